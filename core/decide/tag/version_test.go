package tag

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// load reads a file of testdata. The data are facts: tags and patterns of public
// repositories, and what node-semver, JavaScript and WUD make of them.
func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func numbers(v *version) string {
	return decimal(v.part(0)) + "." + decimal(v.part(1)) + "." + decimal(v.part(2))
}

// Every row of the reference's parse table gives the same three numbers, or is listed
// here with our numbers ("" for no version) and the divergence.
func TestParseTable(t *testing.T) {
	divergences := map[string][2]string{
		"22.04":                        {"22.4.0", "calendar versions"},
		"24.04":                        {"24.4.0", "calendar versions"},
		"2024.01":                      {"2024.1.0", "calendar versions"},
		"3.05-alpine":                  {"3.5.0", "calendar versions"},
		"1.02":                         {"1.2.0", "calendar versions"},
		"jammy-22.04.1":                {"22.4.1", "calendar versions"},
		"nightly-2024.01.02":           {"2024.1.2", "calendar versions"},
		"2024-01-15":                   {"2024.1.15", "bare dates"},
		"RELEASE.2024-01-16T16-07-38Z": {"2024.1.16", "bare dates"},
		"sha-abc1234":                  {"", "hashes"},
		"sha256-0123abcd":              {"", "hashes"},
		"abc1234":                      {"", "hashes"},
		"7b368146":                     {"", "hashes"},
		"sha256-abc.sig":               {"", "hashes"},
		"pr-123":                       {"", "hashes: a pull request is no version either"},
		"amd64-1.2.3":                  {"1.2.3", "suffix family: architectures are no numbers"},
		"12345678901234567.1":          {"", "numbered suffixes: no part of a number is read"},
		"1.2.12345678901234567":        {"", "numbered suffixes: no part of a number is read"},
	}
	var rows [][2]*string // tag, version or null
	load(t, "parse.json", &rows)
	if len(rows) != 128 {
		t.Fatalf("%d rows, want 128", len(rows))
	}
	for i, row := range rows {
		tag, want := *row[0], ""
		if row[1] != nil {
			want, _, _ = strings.Cut(*row[1], "-")
		}
		if d, ok := divergences[tag]; ok {
			if d[0] == want {
				t.Errorf("row %d: %q is no divergence", i+1, tag)
			}
			want = d[0]
		}
		var v version
		got := ""
		if v.read(tag, reading{runtimes: true}) {
			got = numbers(&v)
		}
		if got != want {
			t.Errorf("row %d: read(%q) = %q, want %q", i+1, tag, got, want)
		}
	}
}

func TestParseVersionPieces(t *testing.T) {
	for _, c := range []struct{ tag, prefix, numbers, family, suffixNumbers string }{
		{"php8.2-fpm-alpine3.19", "php", "8.2.0", "-fpm-alpine#.#", "3 19"},
		{"5.14.0.9383-ls245", "", "5.14.0", "-ls#", "245"},
		{"1.0.0-99-7b368146", "", "1.0.0", "-#-*", "99"},
		{"1.2.3-14-g1234567", "", "1.2.3", "-#-*", "14"},
		{"4.2.0-debian-11-r5", "", "4.2.0", "-debian-#-r#", "11 5"},
		{"8u202-jdk", "", "8.0.0", "u#-jdk", "202"},
		{"10.49.1c", "", "10.49.1", "?", "c"},
		{"1.1.1b-alpine", "", "1.1.1", "?-alpine", "b"},
		{"2.0.0-rc.1-alpine", "", "2.0.0", "-alpine", ""},
		{"2.0.0-alpine-rc1", "", "2.0.0", "-alpine", ""},
		{"22-ea-17-jdk-slim", "", "22.0.0", "-jdk-slim", ""},
		{"1.2.3-amd64", "", "1.2.3", "-amd64", ""},
		{"1.2.3-arm32v7-ls5", "", "1.2.3", "-arm32v7-ls#", "5"},
		{"1.2.3-x86_64", "", "1.2.3", "-x86_64", ""},
		{"linux-amd64-1.2.3-alpine", "linux-amd64-", "1.2.3", "-alpine", ""},
		{"x86_64-1.2", "x86_64-", "1.2.0", "", ""},
		{"9.0-jdk17-temurin", "", "9.0.0", "-jdk17-temurin", ""},
		{"3.9-eclipse-temurin-17-alpine", "", "3.9.0", "-eclipse-temurin-17-alpine", ""},
		{"8.0-nanoserver-ltsc2022", "", "8.0.0", "-nanoserver-ltsc2022", ""},
		{"8.0-nanoserver-1809", "", "8.0.0", "-nanoserver-1809", ""},
		{"12.2.0-cuda12.1-cudnn8-devel-ubuntu22.04", "", "12.2.0", "-cuda12.1-cudnn8-devel-ubuntu#.#", "22 4"},
		{"pg14-v0.2.0", "pg14-v", "0.2.0", "", ""},
		{"pg14-v2", "pg14-v", "2.0.0", "", ""},
		{"pg14-2", "pg14-", "2.0.0", "", ""},
		{"rel14-v2", "rel14-v", "2.0.0", "", ""},
		{"rel14-2", "rel", "14.0.0", "-#", "2"},
		{"rel14-v", "rel", "14.0.0", "-v", ""},
		{"alpine3.19-v16.7.0", "alpine3.19-v", "16.7.0", "", ""},
		{"alpine3.19-1.2.3", "alpine3.19-", "1.2.3", "", ""},
		{"alpine3.19-2", "alpine", "3.19.0", "-#", "2"},
		{"windows1809-amd64-2.19.4-alpine", "windows1809-amd64-", "2.19.4", "-alpine", ""},
		{"16.7.0-rc42.ce.0", "", "16.7.0", "-ce.#", "0"},
		{"2.0.0-rc1_alpine", "", "2.0.0", "-alpine", ""},
		{"1.26-dev-alpine", "", "1.26.0", "-dev-alpine", ""},
		{"nightly-1.26", "nightly-", "1.26.0", "nightly-", ""},
		{"1.0.0-3135604-ls5", "", "1.0.0", "-*-ls#", "5"},
		{"1.28.3-gke.1286000", "", "1.28.3", "-gke.#", "1286000"},
		{"14-vectorchord0.4.3-pgvectors0.3.0", "", "14.0.0", "-vectorchord#.#.#-pgvectors#.#.#", "0 4 3 0 3 0"},
		{"RELEASE.2024-01-16T16-07-38Z", "RELEASE.", "2024.1.16", "T#-#-#Z", "16 7 38"},
		{"emulator_14.0_v3.2.0-p0", "emulator_", "14.0.0", "_v#.#.#-p#", "3 2 0 0"},
		{"20240115a", "", "20240115.0.0", "?", "a"},
	} {
		var v version
		if !v.read(c.tag, reading{runtimes: true}) {
			t.Errorf("%q is no version", c.tag)
			continue
		}
		suffix := make([]string, len(v.numbers))
		for i, n := range v.numbers {
			suffix[i] = decimal(n)
		}
		if v.prefix != c.prefix || numbers(&v) != c.numbers || string(v.family) != c.family ||
			strings.Join(suffix, " ") != c.suffixNumbers {
			t.Errorf("%q: prefix %q numbers %s family %q suffix numbers %v; want %q %s %q %q",
				c.tag, v.prefix, numbers(&v), v.family, suffix, c.prefix, c.numbers, c.family, c.suffixNumbers)
		}
	}
}

// Words of the table in doc.go, and some that look alike.
func TestPrereleaseWords(t *testing.T) {
	for tag, want := range map[string]stage{
		"1.0-exp": experimental, "1.0.0-experimental.3": experimental, "1.0.0-pr.12": pullRequest,
		"1.0-dev": development, "2024.2.0.dev20240101": development, "1.0-SNAPSHOT": snapshot,
		"1.0-nightly-20240101": nightly, "nightly-1.0": nightly, "1.0-canary.4": canary, "1.0_edge": edge,
		"1.0-unstable": unstable, "1.0-insiders": insider, "next-1.0": next, "1.0.0alpha1": alpha, "1.0a1": alpha,
		"2022.2.0b1": beta, "v0.108.0-b.52": beta, "17beta1-alpine": beta, "1.0.0-M3": milestone, "1.0.0.m2": milestone,
		"10.0.0-preview.1.23110.8": preview, "1.0-pre": preview, "22-ea-jdk": earlyAccess,
		"1.0.0-rc1": releaseCandidate, "1.22rc1": releaseCandidate, "5.0.CR1": releaseCandidate, "1.0c1": releaseCandidate,
		"1.0.0-hotfix.1-rc2": releaseCandidate, "1.0.0-rc2-hotfix1": releaseCandidate,
		"2.15.0.post1": patched, "12.0.1-security-01": patched, "1.0-hotfix2": patched, "1.0-patch.1": patched,

		"1.0-perl": stable, "1.0-ls45": stable, "1.0-r5": stable, "1.0-1": stable, "8u292-b10": stable, "1.1.1b": stable,
		"1.0-alpine": stable, "12.2.0-devel": stable, "1.2.3m": stable, "1.0-p1": stable, "1.0-betamax": stable,
		"1.0.RELEASE": stable, "prefect-1.0": stable, "1.0-c1": stable, "1.0-1b2": stable, "1.0-hotfix": stable,
		"1.0-no-security": stable, "hotfix1-1.0": stable,
	} {
		var v version
		if !v.read(tag, reading{runtimes: true}) || v.stage != want {
			t.Errorf("%q: stage %d, want %d", tag, v.stage, want)
		}
	}
}

// Each tag is newer than the one before it.
func TestVersionOrder(t *testing.T) {
	for _, tags := range [][]string{
		{"1", "2", "9", "10", "100", "1000"},
		{"1.9.0", "1.10.0-dev.1", "1.10.0-alpha.9", "1.10.0-alpha.10", "1.10.0-beta", "1.10.0-rc", "1.10.0-rc1",
			"1.10.0-rc.2", "1.10.0-rc9", "1.10.0-rc10", "1.10.0", "1.10.1"},
		{"5.14.0.100-ls1", "5.14.0.9383-ls245", "5.14.0.9383-ls1000", "5.14.0.10000-ls2", "6.3.0.10514-ls312"},
		{"22.04", "22.10", "24.04", "2024.01", "2024.1.5", "2024.02.01"},
		{"3.9-alpine3.9", "3.9-alpine3.10", "3.10-alpine3.1"},
		{"10.49.1a", "10.49.1b", "10.49.1c", "10.49.2a"},
		{"RELEASE.2024-01-16T16-07-38Z", "RELEASE.2024-01-16T16-07-39Z", "RELEASE.2024-02-01T00-00-00Z"},
		{"2.0.0-rc1-alpine3.9", "2.0.0-rc1-alpine3.10", "2.0.0-alpine3.9"},
		{"1.0.0-preview.1.2", "1.0.0-preview.1.10", "1.0.0-preview.2"},
	} {
		for i := range tags {
			for j := range tags {
				var a, b version
				if !a.read(tags[i], reading{runtimes: true}) || !b.read(tags[j], reading{runtimes: true}) {
					t.Fatal(tags[i], tags[j])
				}
				if c := compareVersions(&a, &b); (c < 0) != (i < j) || (c > 0) != (i > j) {
					t.Errorf("compare(%q, %q) = %d", tags[i], tags[j], c)
				}
			}
		}
	}
}

func TestDiff(t *testing.T) {
	s := mustCompile(t, Rules{})
	for _, c := range [][3]string{
		// The reference's table.
		{"1.0.0", "2.0.0", "major"},
		{"1.0.0", "1.1.0", "minor"},
		{"1.0.0", "1.0.1", "patch"},
		{"1.0.0", "2.0.0-rc1", "major"},
		{"1.0.0", "1.1.0-rc1", "minor"},
		{"1.0.0", "1.0.1-rc1", "patch"},
		{"1.0.0-rc1", "1.0.0-rc2", "prerelease"},
		{"1.0.0-rc1", "1.0.0", "major"},
		{"1.0.0-rc1", "1.1.1", "major"},
		{"1.0.0-rc1", "2.0.0", "major"},
		{"1.1.0-rc1", "1.1.0", "minor"},
		{"1.1.0-rc1", "1.2.0", "minor"},
		{"1.1.0-rc1", "2.0.0", "major"},
		{"1.1.1-rc1", "1.1.1", "patch"},
		{"1.1.1-rc1", "1.1.2", "patch"},
		{"1.1.1-rc1", "1.2.0", "minor"},
		{"1.1.1-rc1", "2.0.0", "major"},
		{"1.1.1-rc1", "1.2.0-rc1", "minor"},
		{"1.2.0-rc1", "1.2.0-rc1", "unknown"},
		{"1.27-alpine", "1.27-bookworm", "unknown"},
		{"1.2.3-alpine", "1.2.3", "patch"},
		{"1.2.3-alpine", "1.2.4-alpine", "patch"},
		{"1.2.3-alpine", "1.3.0-alpine", "minor"},
		{"1.2.3-alpine", "2.0.0-alpine", "major"},
		{"1.2.3-ls1", "1.2.3-ls2", "prerelease"},
		{"1.2.3.4", "1.2.3.5", "patch"}, // numbered suffixes: WUD does not see the fourth number
		{"2.0.0", "1.0.0", "major"},
		{"3", "4", "major"},
		{"3.1", "3.2", "minor"},
		{"latest", "1.0", "unknown"},

		{"1.0", "latest", "unknown"},
		{"1.2-ls1", "1.2-ls2", "prerelease"}, // suffix family: the same with two numbers
		{"1.2.3-alpine", "1.2.3-bookworm", "prerelease"},
		{"22.04", "22.4", "unknown"},
		{"16rc1", "16", "major"},
		{"2024.2.0b1", "2024.2.0", "minor"},
		{"1.0.0-99-7b368146", "1.0.0-273-21d7efa6", "prerelease"},
		{"v1.0.0", "1.0.0", "unknown"},
		{"12.0.1", "12.0.1-security-01", "patch"},
		{"2.15.0.post1-gpu", "2.15.0.post2-gpu", "patch"},
		{"2.0.0-rc1", "2.0.0.post1", "major"},

		// The largest step of a compound tag's versions.
		{"14-vectorchord0.3.0-pgvectors0.2.0", "14-vectorchord0.4.3-pgvectors0.2.0", "minor"},
		{"14-vectorchord0.3.0-pgvectors0.2.0", "14-vectorchord0.3.1-pgvectors0.2.0", "patch"},
		{"14-vectorchord0.3.0-pgvectors0.2.0", "14-vectorchord0.3.1-pgvectors1.0.0", "major"},
		{"14-vectorchord0.3.0-pgvectors0.2.0", "15-vectorchord0.3.1-pgvectors0.2.0", "major"},
		{"14-vectorchord0.3.0", "14-vectorchord0.3.0.1", "unknown"}, // of two families
		{"16-3.4-alpine", "16-3.5-alpine", "minor"},
		{"16-3.4-alpine", "17-3.5-alpine", "major"},
		{"16-3.4-alpine", "16-4.0-alpine", "major"},
		{"16-3.4", "16-3.5", "minor"},
		{"pg15.4-ts2.12.2", "pg15.4-ts2.12.3", "patch"},
		{"4.6.3_v2.0.10-ls311", "4.6.4_v2.1.0-ls312", "minor"},
		// Bases, months, dates, builds and a packager's revisions are no such versions.
		{"16-alpine3.19", "16-alpine3.20", "prerelease"},
		{"1.0.0-alpine3.19", "1.0.1-alpine4.0", "patch"},
		{"12.2.0-ubuntu22.04", "12.2.1-ubuntu24.04", "patch"},
		{"1-ubi8.9", "1-ubi9.0", "prerelease"},
		{"9.18-22.04_edge", "9.18-24.04_edge", "prerelease"},
		{"9.18-22.10_edge", "9.18-23.10_edge", "prerelease"},
		{"1.0.0-nightly.2024.1.5", "1.0.0-nightly.2025.1.5", "prerelease"},
		{"1-2024.1.5", "1-2025.1.5", "prerelease"},
		{"9.3-1361.1699548032", "9.3-1475.1702000000", "prerelease"},
		{"8.0.35-27.1", "8.0.36-28.1", "patch"},
		{"1.28.3-gke.1286000", "1.28.3-gke.1287000", "prerelease"},
	} {
		if got := s.Diff(c[0], c[1]); got != c[2] {
			t.Errorf("Diff(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestVersionParts(t *testing.T) {
	for _, c := range []struct {
		tag, transform string
		want           [4]string
	}{
		{"1.2.3", "", [4]string{"1", "2", "3", ""}},
		{"1.3.0-rc.1", "", [4]string{"1", "3", "0", "rc"}},
		{"1.2.3rc1", "", [4]string{"1", "2", "3", "rc1"}},
		{"1.2.3-alpine3.18", "", [4]string{"1", "2", "3", "alpine3"}},
		{"1.2.3-04", "", [4]string{"1", "2", "3", "4"}},
		{"1.2.3-beta_1", "", [4]string{"1", "2", "3", ""}},
		{"1.2.3.RELEASE", "", [4]string{"1", "2", "3", ""}},
		{"1.2.3-rc.1+b1", "", [4]string{"1", "2", "3", "rc"}},
		{"5.14.0.9383-ls245", "", [4]string{"5", "14", "0", ""}},
		{"v2023.06.0", "", [4]string{"2023", "6", "0", ""}},
		{"16-alpine", "", [4]string{"16", "0", "0", ""}},
		{"16rc1", "", [4]string{"16", "0", "0", "rc1"}},
		{"2024-01-15", "", [4]string{"2024", "1", "15", ""}},
		{"RELEASE.2024-01-16T16-07-38Z", "", [4]string{"2024", "1", "16", ""}},
		{"latest", "", [4]string{}},
		{"build-7_1.2.3", `^build-\d+_(.*)$ => $1`, [4]string{"1", "2", "3", ""}},
	} {
		var got [4]string
		got[0], got[1], got[2], got[3] = mustCompile(t, Rules{Transform: c.transform}).Parts(c.tag)
		if got != c.want {
			t.Errorf("Parts(%q) = %q, want %q", c.tag, got, c.want)
		}
	}
}

func mustCompile(t testing.TB, r Rules) *Selector {
	t.Helper()
	s, err := Compile(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
