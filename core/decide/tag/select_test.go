package tag

import (
	"strings"
	"testing"
)

// Every worked case of the reference gives WUD's result and diff, or ours where the
// table below says so and why. An empty diff means no update.
func TestWorkedCases(t *testing.T) {
	divergences := map[int]struct{ tag, diff, why string }{
		6:  {"2", "major", "suffix family"},
		7:  {"1.27-alpine", "minor", "suffix family"},
		8:  {"1.27-alpine", "", "suffix family"},
		11: {"1.26.0-alpine", "minor", "suffix family"},
		12: {"1.26.0-alpine", "", "suffix family"},
		17: {"amd64-1.3.0", "minor", "suffix family: architectures are no numbers"},
		18: {"1.0.1", "patch", "prereleases"},
		21: {"2.0.0-rc10", "prerelease", "numbered suffixes"},
		25: {"1.0.0", "", "prereleases"},
		26: {"1.0.0", "", "prereleases"},
		28: {"24.10", "major", "calendar versions"},
		31: {"2024-02-20", "minor", "hashes and bare dates"},
		33: {"5.14.0.9999-ls300", "patch", "numbered suffixes"},
		34: {"1.0.0-273-21d7efa6", "prerelease", "numbered suffixes"},
		62: {"1.2.3", "", "prereleases"},
		67: {"9u1-jdk", "major", "suffix family"},
		69: {"1.27", "", "suffix family"},
		70: {"5.14.0.10000", "patch", "numbered suffixes"},
		71: {"5.14.0.10000", "", "strictly newer"},
		72: {"7.2.4-alpine", "", "suffix family"},
		73: {"17", "major", "suffix family"},
		75: {"v1.0.1", "patch", "prereleases"},
	}
	notHere := map[int]string{
		40: "a bad include is a RuleError of Compile",
		45: "the reference does not parse",
		51: "failure of the digest check", 53: "failure of the digest check", 54: "failure of the digest check",
	}
	var cases []struct {
		Row                         int
		Current                     string
		Tags                        []string
		Include, Exclude, Transform string
		Semver                      bool
		WUD, WUDDiff                string
	}
	load(t, "worked.json", &cases)
	if len(cases) != 76 {
		t.Fatalf("%d cases, want 76", len(cases))
	}
	for _, c := range cases {
		if notHere[c.Row] != "" {
			continue
		}
		wantTag, wantDiff, wantVersion := c.WUD, c.WUDDiff, c.Semver || c.Row == 28
		if d, ok := divergences[c.Row]; ok {
			if d.tag == wantTag && d.diff == wantDiff {
				t.Errorf("row %d is no divergence", c.Row)
			}
			wantTag, wantDiff = d.tag, d.diff
		}
		s := mustCompile(t, Rules{Include: c.Include, Exclude: c.Exclude, Transform: c.Transform})
		sel, err := s.Select(t.Context(), c.Current, c.Tags)
		if err != nil {
			t.Fatal(err)
		}
		diff := ""
		if sel.Newer {
			diff = s.Diff(c.Current, sel.Tag)
		}
		if sel.Tag != wantTag || diff != wantDiff || s.IsVersion(c.Current) != wantVersion {
			t.Errorf("row %d: %q among %q: %q %q, version %v; want %q %q %v (%s)", c.Row, c.Current, c.Tags,
				sel.Tag, diff, s.IsVersion(c.Current), wantTag, wantDiff, wantVersion, divergences[c.Row].why)
		}
	}
}

// scenario is a container and the tags of its repository, in one text.
type scenario struct {
	rules   Rules
	current string
	tags    string
	want    string // "" if there is nothing newer
}

func (c scenario) check(t *testing.T) {
	t.Helper()
	sel, err := mustCompile(t, c.rules).Select(t.Context(), c.current, strings.Fields(c.tags))
	want := c.want
	if want == "" {
		want = c.current
	}
	if err != nil || sel.Tag != want || sel.Newer != (c.want != "") {
		t.Errorf("%+v: %q among %s: %+v, %v; want %q", c.rules, c.current, c.tags, sel, err, want)
	}
}

func run(t *testing.T, cases []scenario) {
	t.Helper()
	for _, c := range cases {
		c.check(t)
	}
}

func TestSuffixFamily(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "16", "16 16-alpine 16.1 17-bookworm 17 17.2 17-alpine3.20", "17"},
		{Rules{}, "1.25-alpine", "1.26 1.26-alpine 1.27 1.27-alpine-slim 1.27-bookworm", "1.26-alpine"},
		{Rules{}, "1.25.0-alpine", "1.26.0 1.26.0-alpine 1.27.0-perl 1.27.0", "1.26.0-alpine"},
		{Rules{}, "16-alpine3.19", "16-alpine3.20 17 17-alpine 17-alpine3.20 17-bookworm", "17-alpine3.20"},
		{Rules{}, "16-alpine", "17-alpine3.20", ""},
		{Rules{}, "20-bookworm-slim", "20-slim 21-bookworm-slim 22-bookworm 22-slim", "21-bookworm-slim"},
		{Rules{}, "1.21.4-rootless", "1.21.5 1.21.5-rootless 1.22.0", "1.21.5-rootless"},
		{Rules{}, "5.36-perl", "5.38-perl 5.40", "5.38-perl"},
		{Rules{}, "php8.2-fpm", "php8.3-apache php8.3-fpm php9-fpm", "php8.3-fpm"},
		{Rules{}, "8u202-jdk", "8u212-jdk 8u222-jre 11-jdk", "8u212-jdk"},
		{Rules{}, "v1.99.0", "v1.100.0 v1.101.0-cuda", "v1.100.0"},
		{Rules{}, "1.28.3-gke.1286000", "1.28.3-gke.1286001 1.29.0", "1.28.3-gke.1286001"},
		// Architectures, runtimes and hosts.
		{Rules{}, "1.2.3-amd64", "1.2.4 1.2.4-arm64 1.2.4-amd64", "1.2.4-amd64"},
		{Rules{}, "1.2.3-arm32v7", "1.2.3-arm64v8 1.3.0-arm64v8", ""},
		{Rules{}, "arm32v7-1.2.3", "arm64v8-1.3.0 1.3.0", ""},
		{Rules{}, "amd64-1.2.3", "amd64-1.3.0 arm64-1.4.0 1.4.0", "amd64-1.3.0"},
		{Rules{}, "9.0-jdk17", "9.0-jdk21 9.1-jdk17 9.1-jdk21", "9.1-jdk17"},
		{Rules{}, "2.13.0-pg15", "2.14.0-pg15 2.14.0-pg16", "2.14.0-pg15"},
		{Rules{Include: `^\d+\.\d+\.\d+-pg\d+$`}, "2.13.0-pg15", "2.14.0-pg15 2.14.0-pg16", "2.14.0-pg16"},
		{Rules{}, "alpine3.18-v16.7.0", "alpine3.18-v16.10.0 alpine3.19-v15.0.0 alpine-v17.0.0", "alpine3.18-v16.10.0"},
		{Rules{}, "windows1809-amd64-2.19.4", "windows1809-amd64-2.20.0 windows2004-amd64-2.21.0",
			"windows1809-amd64-2.20.0"},
		{Rules{}, "0.14.0-tensorrt-jp4", "0.14.1-tensorrt-jp5 0.14.1-tensorrt", ""},
		{Rules{}, "pg14-v0.2.0", "pg14-v0.3.0 pg16-v0.4.0", "pg14-v0.3.0"},
		{Rules{}, "8.0-nanoserver-1809", "8.0-nanoserver-ltsc2022 9.0-nanoserver-1809 9.0-nanoserver-ltsc2022",
			"9.0-nanoserver-1809"},
		{Rules{}, "8.0-nanoserver-ltsc2019", "8.0-nanoserver-ltsc2022", ""},
		{Rules{}, "3.0.0-windowsservercore-ltsc2022", "3.1.0-windowsservercore-ltsc2022 3.1.0",
			"3.1.0-windowsservercore-ltsc2022"},
		// The family holds with an include pattern, too, unless it leaves the family.
		{Rules{Include: `^1\.2`}, "1.25-alpine", "1.26-alpine 1.27", "1.26-alpine"},
		{Rules{Include: `^15\.\d+$`}, "15.15-alpine", "15.14 15.15 15.16 15.16-alpine", "15.16"},
		{Rules{Include: `^2\.`}, "1.0.0", "2.0.0 2.1.0-alpine 1.5.0", "2.0.0"},
		{Rules{Include: `^v?\d+\.\d+\.\d+$`}, "v1.0.0", "1.1.0 v1.1.0", "v1.1.0"},
		{Rules{Include: `^v?\d+\.\d+\.\d+$`}, "v1.0.0", "v1.1.0 1.2.0", "1.2.0"},
	})
}

func TestNumberedSuffixes(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "5.14.0.9383-ls245", "6.3.0.10514-ls312 5.14.0.9383-ls99 6.0.0 version-6.0.0.1", "6.3.0.10514-ls312"},
		{Rules{}, "4.20.1-ls99", "4.20.1-ls100 4.20.1-ls101 4.20.1-ls12", "4.20.1-ls101"},
		{Rules{}, "5.14.0.9383", "5.14.0.10000 5.14.0.999", "5.14.0.10000"},
		{Rules{}, "version-6.0.0.1", "version-6.0.0.2 version-6.0.0.10 6.0.0.11", "version-6.0.0.10"},
		{Rules{}, "2.0.0-rc9", "2.0.0-rc10 2.0.0-rc2", "2.0.0-rc10"},
		{Rules{}, "4.2.0-debian-11-r5", "4.2.0-debian-11-r50 4.2.0-debian-11-r6", "4.2.0-debian-11-r50"},
		{Rules{}, "4.2.0-debian-11-r5", "4.2.0-debian-11-r50 4.3.0-debian-12-r0", "4.3.0-debian-12-r0"},
		{Rules{}, "v3.8.1-1", "v3.8.1-2 v3.8.1-10 v3.8.1", "v3.8.1-10"},
		{Rules{}, "1.0.0-99-7b368146", "1.0.0-273-21d7efa6 1.0.0-99-aaaaaa1 1.0.0-100-bbbbbb2", "1.0.0-273-21d7efa6"},
		{Rules{}, "10.49.1c", "10.49.1d 10.49.1 10.49.1b", "10.49.1d"},
		{Rules{}, "4.6.3_v2.0.10-ls311", "4.6.3_v2.0.10-ls312 4.6.3_v2.0.9-ls400", "4.6.3_v2.0.10-ls312"},
		{Rules{}, "RELEASE.2024-01-16T16-07-38Z",
			"RELEASE.2024-01-16T16-07-39Z RELEASE.2023-12-31T23-59-59Z RELEASE.2025-01-01T00-00-00Z.fips latest",
			"RELEASE.2024-01-16T16-07-39Z"},
		// A revision may be followed by a version that has none, but not the other way round.
		{Rules{}, "10.8.13-1", "10.8.13 10.9.0 10.10.3 10.10.3-arm64", "10.10.3"},
		{Rules{}, "10.8.13-1", "10.8.13-2 10.8.13", "10.8.13-2"},
		{Rules{}, "26.0.6-0", "26.0.7 26.0.7-0", "26.0.7-0"},
		{Rules{}, "1.4.0-3_slim", "1.4.0-10_slim 1.4.0-4_slim", "1.4.0-10_slim"},
		{Rules{}, "1.4.0-3_slim", "1.5.0_slim 1.5.0-slim 1.6.0", "1.5.0_slim"},
		{Rules{}, "10.49.1c", "10.49.1 10.50.0", "10.50.0"},
		{Rules{}, "11.0.0", "11.1.0-67429 11.0.0-1", ""},
		// What mends a release is newer than it, and is followed by the next one.
		{Rules{}, "12.0.1", "12.0.1-security-01 12.0.0-security-02", "12.0.1-security-01"},
		{Rules{}, "12.0.1-security-01", "12.0.1 12.0.2", "12.0.2"},
		{Rules{}, "2.15.0-gpu", "2.15.0.post1-gpu 2.15.0.post1", "2.15.0.post1-gpu"},
		{Rules{}, "2.15.0.post1", "2.15.0.post2 2.15.0", "2.15.0.post2"},
		{Rules{}, "1.0.0", "1.0.0-hotfix1-rc1 1.0.0-hotfix 1.0.0-security", ""},
		// Tags that a transform makes equal are distinguished by their own numbers.
		{Rules{Transform: `^(\d+\.\d+)\.\d+$ => $1`}, "4.39.3", "4.39.4 4.40.2 4.40.9 4.40.10", "4.40.10"},
	})
}

func TestSelectIsStrictlyNewer(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "5.14.0.10000", "5.14.0.9383 5.14.0.10000", ""},
		{Rules{}, "1.27", "1.27-perl 1.27 1.26", ""},
		{Rules{}, "22.04", "22.4 22.04", ""},
		{Rules{}, "1.0.0-99-7b368146", "1.0.0-99-ffffff1", ""},
		// Of equals, the order of the list decides nothing.
		{Rules{}, "1.0.0-7b36814", "1.1.0-c0ffee1 1.1.0-0a1b2c3", "1.1.0-0a1b2c3"},
		{Rules{}, "1.0.0-7b36814", "1.1.0-0a1b2c3 1.1.0-c0ffee1", "1.1.0-0a1b2c3"},
		{Rules{}, "1.0.0-7b36814", "1.1.0-0a1b2c34 1.1.0-c0ffee1", "1.1.0-c0ffee1"},
		{Rules{Transform: `^(\d+\.\d+)\.\d+$ => $1`}, "4.39.3", "4.39.4", ""},
		{Rules{Include: `.`}, "1.0", "v1.0 1.0", ""},
		{Rules{}, "1.0", "", ""},
	})
}

func TestPrereleases(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "1.0.0", "1.0.1 2.0.0-rc1 2.0.0-beta.1 2.0.0b1 2.0.0-nightly", "1.0.1"},
		{Rules{Prerelease: true}, "1.0.0", "1.0.1 2.0.0-rc1 2.0.0-beta.1", "2.0.0-rc1"},
		{Rules{Prerelease: true}, "1.0.0", "2.0.0-rc1 2.0.0", "2.0.0"},
		{Rules{Prerelease: true}, "1.0.0-alpine", "2.0.0-rc1 2.0.0-rc1-alpine", "2.0.0-rc1-alpine"},
		{Rules{}, "2.0.0-rc1", "2.0.0-rc1 2.0.0-rc2", "2.0.0-rc2"},
		{Rules{}, "2.0.0-rc1", "2.0.0-rc2 2.0.0", "2.0.0"},
		{Rules{}, "2.0.0-rc1", "2.0.0-rc2 2.0.0 2.1.0-alpha", "2.0.0"},
		{Rules{}, "2.0.0-beta1", "2.0.0-beta2 2.1.0-nightly.7 2.1.0-alpha3", "2.0.0-beta2"},
		{Rules{Prerelease: true}, "2.0.0-rc1", "2.0.0 2.1.0-alpha", "2.1.0-alpha"},
		{Rules{}, "2.0.0-rc1-alpine", "2.0.0 2.0.0-alpine 2.0.0-rc2-alpine", "2.0.0-alpine"},
		{Rules{}, "2022.2.0", "2022.2.1b1 2022.3.0b0 2022.2.1", "2022.2.1"},
		{Rules{}, "2022.2.0b1", "2022.2.0b2 2022.2.0b10", "2022.2.0b10"},
		{Rules{}, "v0.108.0-b.52", "v0.108.0-b.53 v0.107.77", "v0.108.0-b.53"},
		{Rules{Include: `^2\.`}, "1.0.0", "2.0.0-rc1", ""},
		{Rules{Include: `.`}, "1.0.0", "beta-2.0.0 nightly-2.0.0", ""},
		// -perl, -ls45, -r5 and -1 are no prereleases.
		{Rules{}, "1.0.0-1", "1.0.1-1", "1.0.1-1"},
		{Rules{}, "1.0.0-perl", "1.0.1-perl", "1.0.1-perl"},
		{Rules{}, "2.0.0-beta", "2.0.0", "2.0.0"},
		{Rules{}, "3.13-rc", "3.13 3.12", "3.13"},
		{Rules{}, "8.12.0-SNAPSHOT", "8.12.0 8.13.0-SNAPSHOT", "8.13.0-SNAPSHOT"},
		{Rules{}, "16.7.0-rc42.ce.0", "16.7.0-ce.0 16.7.0-ee.0", "16.7.0-ce.0"},
		// A channel is never left, nor entered.
		{Rules{}, "1.25-dev", "1.26 1.26-dev 1.27", "1.26-dev"},
		{Rules{}, "1.26-dev", "1.26 1.26-dev 1.27", ""},
		{Rules{Prerelease: true}, "1.25", "1.27-nightly", ""},
		{Rules{Include: `.`}, "nightly-1.0", "1.1 nightly-1.1 1.1-nightly", "nightly-1.1"},
		{Rules{}, "9.18-22.04_edge", "9.18-24.04_edge 9.18-24.04_beta", "9.18-24.04_edge"},
		{Rules{}, "nightly-2024.01.02", "nightly-2024.01.03 2024.02.01", "nightly-2024.01.03"},
	})
}

func TestCalendarVersions(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "22.04", "22.04 22.10 24.04 jammy", "24.04"},
		{Rules{}, "2024.01", "2024.01 2024.02 2023.12", "2024.02"},
		{Rules{}, "2024.1.5", "2024.1.6 2024.2.0 2025.1.0b3 2025.1.0", "2025.1.0"},
		{Rules{}, "2024.07.0", "2024.07.1 2024.06.9", "2024.07.1"},
		{Rules{}, "10.11", "10.12 2021.12", "10.12"},
		{Rules{}, "10.11.0", "2021.12.16", ""},
		{Rules{}, "8", "9 2021 202101", "9"},
		{Rules{Include: `^\d+\.\d+\.\d+$`}, "10.11.0", "2021.12.16", "2021.12.16"},
		{Rules{Include: `^10\.`}, "10.11.0", "10.11.1 2021.12.16", "10.11.1"},
		{Rules{}, "2021.12.16", "10.11.0", ""},
		{Rules{}, "1500.1", "2021.12", ""},
		// A zero before the month tells a calendar from plain versions.
		{Rules{}, "4.6.3", "5.0.3 20.04.1", "5.0.3"},
		{Rules{}, "10.11", "22.04", ""},
		{Rules{Include: `^\d`}, "10.11", "22.04", "22.04"},
		{Rules{}, "22.04", "22.10 23.10", "23.10"},
		{Rules{}, "23.10", "22.04 24.04", "24.04"},
		{Rules{}, "16.10", "16.11 20.04", "16.11"},
		{Rules{}, "16.9", "16.10 17.1", "17.1"},
		{Rules{}, "19.03.15", "20.10.7 23.0.1", "23.0.1"},
		// Among nothing but years and months, the 10 is a month.
		{Rules{}, "18.10", "18.10 19.10 20.04", "20.04"},
		{Rules{}, "18.10", "19.04 19.10 20.04", "20.04"},
		{Rules{}, "18.10", "19.10 20.04 22.04 24.04 latest rolling cosmic-20181018 20181018", "24.04"},
		{Rules{}, "19.10", "18.10 19.10 20.04", "20.04"},
		{Rules{}, "v18.10", "v19.10 v20.04 8.1", "v20.04"},
		{Rules{}, "18.10-slim", "19.10-slim 20.04-slim 20.04", "20.04-slim"},
		{Rules{}, "16.11", "16.12 17.04", "17.04"},
		// Other versions, or years without any, tell that it is none.
		{Rules{}, "18.10", "18.9 19.10 20.04", "19.10"},
		{Rules{}, "18.10", "18 19.10 20.04", "19.10"},
		{Rules{}, "10.11", "10.12 11.10 20.04", "11.10"},
	})
	for _, tag := range []string{"22.04", "24.04", "2024.01", "3.05-alpine", "2024.01.15", "jammy-22.04.1"} {
		if !mustCompile(t, Rules{}).IsVersion(tag) {
			t.Errorf("%q is no version", tag)
		}
	}
}

func TestHashesAndBareDates(t *testing.T) {
	s := mustCompile(t, Rules{})
	for _, tag := range []string{"abc1234", "7b368146", "sha-abc1234", "sha256-0123abcd", "main-1a2b3c4d-1638215523",
		"git-abc1234",
		"0123456789abcdef0123456789abcdef01234567", "abc1234-amd64", "g1234567", "git-1234567", "sha-1234567",
		"commit-1234567890",
		"1234567", "main-4131252", "latest-arm32v6", "lts-alpine3.20", "stable-h8l", "nightly-py3", "pr-123", "pr123",
		"github-pr-123", "latest-pg16", "latest-v23.1", "latest", "stable", "00", "", "v", "x"} {
		if s.IsVersion(tag) {
			t.Errorf("%q is a version", tag)
		}
	}
	run(t, []scenario{
		{Rules{}, "17", "18 1a2b3c4 7b36814 9999999 sha-9999999", "18"},
		{Rules{}, "2024.1.14-3135604", "2024.2.3-0f0ea8b 2024.1.14-9135604", "2024.2.3-0f0ea8b"},
		{Rules{}, "1.0.0-20240115", "1.0.0-20240116 1.1.0-3135604", "1.0.0-20240116"},
		{Rules{}, "1.0.0-1638215523", "1.0.0-1638215524", "1.0.0-1638215524"},
		{Rules{}, "20240115", "20240202 20231201 3.20 17", "20240202"},
		{Rules{}, "17", "20240202 18", "18"},
		{Rules{Include: `^\d+$`}, "17", "20240202", ""},
		{Rules{}, "20240115", "20249999 2024011501", ""},
		{Rules{}, "2025051205", "2025051206 20250601", "2025051206"},
		{Rules{}, "2024-01-15", "2024-02-20 2024-02-19 2023-12-31 20250101", "2024-02-20"},
		{Rules{}, "v2024-01-15", "v2024-01-16 2024-02-01", "v2024-01-16"},
		{Rules{}, "2024011", "2024012 2024366", "2024366"},
		{Rules{}, "build-1234567890", "build-1234567891", "build-1234567891"},
		{Rules{}, "stable-5", "stable-6", "stable-6"},
		{Rules{}, "unstable-v1.57.12", "unstable-v1.59.3", "unstable-v1.59.3"},
		{Rules{}, "jammy-20240111", "jammy-20240227 noble-20240605", "jammy-20240227"},
		{Rules{}, "jammy-20240111", "jammy-22.04 jammy-9", ""},
		{Rules{}, "20240115-r1", "20240115-r2", "20240115-r2"},
		// A date that is built again goes on with a count, which is no more precise.
		{Rules{}, "noble-20240114", "noble-20240114.1", "noble-20240114.1"},
		{Rules{}, "noble-20240114.1", "noble-20240114 noble-20240114.2 noble-20240114.10", "noble-20240114.10"},
		{Rules{}, "noble-20240114.1", "noble-20240202", "noble-20240202"},
		{Rules{}, "2024-01-14", "2024-01-14.1 2024-01-13.2", "2024-01-14.1"},
		{Rules{}, "20240114", "20240115.1.2 20240115.123456", ""},
	})
}

func TestArtifactsAreDropped(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "1.0.0", "1.0.1.sig 1.0.2.att 1.0.3.sbom sha256-99.0.0", ""},
		{Rules{Include: `.`}, "1.0.0", "1.0.1.sig 1.0.2.att 1.0.3.sbom sha-9.9.9", "sha-9.9.9"},
	})
}

func TestPrefixAndCount(t *testing.T) {
	run(t, []scenario{
		{Rules{}, "v2.10", "v2.11 v2.11.1 v3 v3.0 3.1", "v3.0"},
		{Rules{}, "V1.0.0", "v1.1.0 V1.2.0", "V1.2.0"},
		{Rules{}, "V2.5.8-ls244", "v2.6.1-ls260 2.7.0-ls1", "v2.6.1-ls260"},
		{Rules{Include: `.`}, "v1.0.0-ls1", "v1.1.0-ls5 1.1.0-ls9", "1.1.0-ls9"},
		{Rules{}, "version-1.0.0", "version-1.1.0 v1.2.0 1.3.0", "version-1.1.0"},
		{Rules{}, "v1.0.0", "version-2.0.0 vnext-3.0.0", ""},
		{Rules{}, "1.0.0", "v2.0.0", ""},
		{Rules{Include: `^\d+(\.\d+)*$`}, "17", "17.1 18 18.2", "18"},
		// With a transform, prefix and count are those of the tag as it is.
		{Rules{Transform: `^build-\d+_(.*)$ => $1`}, "build-7_1.0.0", "build-8_1.1.0 2.0.0", "build-8_1.1.0"},
		{Rules{Transform: `^[a-z0-9]+-ls(\d+)$ => $1`}, "abcdef12-ls9", "0bcdef12-ls10 abc-ls11", "0bcdef12-ls10"},
	})
}

// A Selector is shared by all containers with the same rules.
func TestConcurrentUse(t *testing.T) {
	s := mustCompile(t, Rules{Include: `^(?!.*rc)\d`, Transform: `^(.*)$ => $1`})
	done := make(chan string)
	for range 4 {
		go func() {
			sel, _ := s.Select(t.Context(), "1.0.0", pool)
			done <- sel.Tag
		}()
	}
	for range 4 {
		if tag := <-done; tag != "2021.12.16" {
			t.Error(tag)
		}
	}
}

// Reading tags reuses its memory: there are allocations for the newer tags, and none for each tag.
func TestSelectAllocatesLittle(t *testing.T) {
	tags := manyTags(10_000)
	s := mustCompile(t, Rules{})
	if n := testing.AllocsPerRun(3, func() { _, _ = s.Select(t.Context(), "1.2.3-alpine3.18", tags) }); n > 1000 {
		t.Errorf("%v allocations", n)
	}
}
