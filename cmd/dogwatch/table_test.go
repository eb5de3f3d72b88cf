package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/model/tally/tallytest"
	"github.com/dogwatch/dogwatch/sdk"
)

// fleet is a container of each sort.
func fleet() []sdk.Container {
	container := func(name, host, repo, tag string) sdk.Container {
		return sdk.Container{
			Name: name, Watcher: "local", Check: sdk.CheckState{State: sdk.CheckOK},
			Image: sdk.Image{Name: repo, Tag: sdk.Tag{Value: tag}, Registry: sdk.Registry{Host: host}},
		}
	}
	updated := func(c sdk.Container, diff, to string) sdk.Container {
		c.UpdateAvailable = true
		c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindTag, SemverDiff: diff, LocalValue: c.Image.Tag.Value, RemoteValue: to}
		return c
	}
	failed := func(c sdk.Container, why string) sdk.Container {
		c.Check.State, c.Error = sdk.CheckFailed, &sdk.ContainerError{Message: why}
		return c
	}
	digest := container("worker", "registry.example.org:5000", "team/worker", "latest")
	digest.UpdateAvailable = true
	digest.UpdateKind = sdk.UpdateKind{
		Kind: sdk.KindDigest, LocalValue: "sha256:" + strings.Repeat("a1", 32),
		RemoteValue: "sha256:" + strings.Repeat("b2", 32),
	}
	odd := container("odd-label", "docker.io", "library/alpine", "3.20")
	odd.Error = &sdk.ContainerError{Message: "label dogwatch.link.template: unknown name \"mayor\""}
	never := container("new", "docker.io", "library/busybox", "1.36")
	never.Check.State = sdk.CheckNever
	uncompared := container("uncompared", "docker.io", "library/shop-web", "latest")
	uncompared.Check.State = sdk.CheckUnknown
	uncompared.Check.Reason = "built or loaded here, so there is no digest to compare"
	postponed := container("postponed", "docker.io", "library/httpd", "2.4")
	postponed.Check.State, postponed.Check.PostponedReason = sdk.CheckNever, "docker.io limits requests"
	postponed.Check.PostponedUntil = sdk.TimeOf(time.Date(2026, 3, 29, 2, 0, 0, 0, time.UTC))
	return []sdk.Container{
		container("uptodate", "docker.io", "library/redis", "7.4.1"),
		failed(container("broken", "quay.io", "some/app", "1.0"),
			"registry.quay.public: list tags of some/app at quay.io: 503 service unavailable: the disk of the registry is full and nobody is at home"),
		failed(container("evil\x1b[31m", "docker.io", "library/x", "1"), "two\nlines and a bell\a"),
		updated(container("patched", "ghcr.io", "owner/application", "1.2.3"), sdk.DiffPatch, "1.2.4"),
		updated(container("beta", "ghcr.io", "owner/beta", "2.0.0-rc1"), sdk.DiffPrerelease, "2.0.0-rc2"),
		updated(container("database", "docker.io", "library/postgres", "15.6-bookworm"), sdk.DiffMajor, "17.0-bookworm"),
		updated(container("a-container-with-a-very-long-name-that-does-not-fit", "ghcr.io",
			"an-organisation/with-a-long-repository-name", "5.11.0.9244-ls240"), sdk.DiffMinor, "5.14.0.9383-ls245"),
		updated(container("dated", "docker.io", "library/dated", "20240101"), sdk.DiffUnknown, "20240301"),
		digest, odd, never, postponed, uncompared,
	}
}

func TestWriteTable(t *testing.T) {
	rows := rowsOf(fleet())
	last := summarise(rows, 0).sentence(832 * time.Millisecond)
	for _, width := range []int{0, 24, 40, 60, 80, 120} {
		for _, colour := range []bool{false, true} {
			name := fmt.Sprintf("table-%d", width)
			if colour {
				name += "-colour"
			}
			t.Run(name, func(t *testing.T) {
				var out bytes.Buffer
				if err := (style{width: width, colour: colour}).writeTable(&out, rows, last); err != nil {
					t.Fatal(err)
				}
				golden(t, name+".txt", out.String())
				for line := range strings.Lines(out.String()) {
					line = strings.TrimSuffix(line, "\n")
					if !colour && width > 0 && utf8.RuneCountInString(line) > width {
						t.Errorf("wider than %d: %q", width, line)
					}
					if !colour && strings.ContainsAny(line, "\x1b\a") {
						t.Errorf("a terminal would obey %q", line)
					}
				}
			})
		}
	}
}

// TestSummaryAddsUp: over random fleets, the numbers of the last line are as many as there are containers.
func TestSummaryAddsUp(t *testing.T) {
	number := regexp.MustCompile(`(no|\d+) (image|update|held|failed|postponed|not checked|unknown|up to date)`)
	for seed := range uint64(tallytest.Fleets) {
		fleet := tallytest.Fleet(seed)
		s := summarise(rowsOf(fleet), 0)
		text, _, _ := strings.Cut(s.sentence(time.Second), ". ")
		sum, all := 0, 0
		for _, m := range number.FindAllStringSubmatch(strings.Split(text, ";")[0], -1) {
			n, _ := strconv.Atoi(m[1])
			if m[2] == "image" {
				all = n
			} else {
				sum += n
			}
		}
		if all != len(fleet) || sum != len(fleet) {
			t.Errorf("fleet %d of %d: %s", seed, len(fleet), text)
		}
	}
}

// TestOutageIsOneThing: the last line explains what several fail by, and their rows name it.
func TestOutageIsOneThing(t *testing.T) {
	var all []sdk.Container
	for _, name := range []string{"a", "b", "c"} {
		c := sdk.Container{Name: name, Watcher: "local", Check: sdk.CheckState{State: sdk.CheckFailed}}
		c.Error = &sdk.ContainerError{Message: "list tags of " + name, Cause: "Docker Hub does not answer"}
		all = append(all, c)
	}
	rows := rowsOf(all)
	for _, r := range rows {
		if r.note != "Docker Hub does not answer" {
			t.Errorf("%s: %q", r.name, r.note)
		}
	}
	want := "Checked 3 images in 1.0 s: no updates, 3 failed. Docker Hub does not answer: 3 images (list tags of a)"
	if got := summarise(rows, 0).sentence(time.Second); got != want {
		t.Errorf("%q", got)
	}
}

func TestWriteMarkdown(t *testing.T) {
	rows := rowsOf(fleet())
	var out bytes.Buffer
	if err := writeMarkdown(&out, rows, summarise(rows, 0).sentence(61*time.Second)); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.md", out.String())
}

func TestRowsOfSeveralWatchers(t *testing.T) {
	a, b := sdk.Container{Name: "web", Watcher: "one"}, sdk.Container{Name: "web", Watcher: "two"}
	rows := rowsOf([]sdk.Container{b, a})
	if rows[0].name != "one/web" || rows[1].name != "two/web" {
		t.Errorf("%+v", rows)
	}
	if rows := rowsOf(nil); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"one two three":           "one two|three",
		"exactly it":              "exactly it",
		"averyverylongword":       "averyveryl|ongword",
		"a averyverylongword b":   "a|averyveryl|ongword b",
		"größe größe größe größe": "größe|größe|größe|größe",
	} {
		if got := strings.Join(wrap(text, 10), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		clip  func(string, int) string
		text  string
		width int
		want  string
	}{
		{clip, "a-long-name", 11, "a-long-name"}, {clip, "a-long-name", 7, "a-l…ame"},
		{clipImage, "quay.io/prometheus/alertmanager", 31, "quay.io/prometheus/alertmanager"},
		{clipImage, "quay.io/prometheus/alertmanager", 30, "…/prometheus/alertmanager"},
		{clipImage, "quay.io/prometheus/alertmanager", 14, "…/alertmanager"},
		{clipImage, "quay.io/prometheus/alertmanager", 10, "…/al…nager"}, {clipImage, "nextcloud", 8, "nex…loud"},
		{clipUpdate, "1.2-alpine → 1.3-alpine", 23, "1.2-alpine → 1.3-alpine"}, {clipUpdate, "1.2-alpine → 1.3-alpine",
			22, "1.2-… → 1.3-…"},
		{clipUpdate, "1.2-alpine → 1.3-alpine", 13, "1.2-… → 1.3-…"}, {clipUpdate, "1.2-alpine → 1.3-bookworm", 20,
			"1.2…pine → 1.3…worm"},
		{clipUpdate, "1.2-alpine → 1.3-alpine, or 2.0-alpine", 30, "1.2-… → 1.3-…, or 2.0-…"},
		{clipUpdate, "1.2-alpine → 1.3-alpine, or 2.0-alpine", 20, "1.2-… → 1.3-…"},
		{clipUpdate, "1.2-alpine → 1.3-alpine (floats)", 30, "1.2-… → 1.3-… (floats)"},
		{clipUpdate, "RELEASE.2025-01-02 → RELEASE.2025-09-07", 24, "RELE…01-02 → RELE…09-07"},
		{clipUpdate, "latest 0123456 → 7654321", 20, "late…23456 → 7654321"}, {clipUpdate, "-x → 1-x", 7, "-x → …x"},
		{clipUpdate, "1-x → -x", 7, "…x → -x"},
	} {
		got := c.clip(c.text, c.width)
		if got != c.want || utf8.RuneCountInString(got) > c.width {
			t.Errorf("%q in %d is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestNatural(t *testing.T) {
	ordered := []string{"", "1.9", "1.10", "1.10.1", "1.010.2", "2", "v1", "v2"}
	for i := range ordered {
		for j := range ordered {
			got := natural(ordered[i], ordered[j])
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q and %q: %d", ordered[i], ordered[j], got)
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}

func TestWriteTableMarksTags(t *testing.T) {
	c := sdk.Container{
		Name: "db", Check: sdk.CheckState{State: sdk.CheckOK},
		Image: sdk.Image{Name: "library/postgres", Tag: sdk.Tag{Value: "16-alpine", Semver: true}},
	}
	for _, test := range []struct {
		floating, pinned bool
		want             string
	}{
		{false, false, "16-alpine"}, {true, false, "16-alpine (floats)"}, {false, true, "16-alpine (pinned)"},
		{true, true, "16-alpine (pinned) (floats)"},
	} {
		c.Image.Tag.Floating, c.Image.Digest.Pinned = test.floating, test.pinned
		if got := rowOf(c).update; got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestRowOfBaseImage(t *testing.T) {
	c := sdk.Container{
		Name: "web", Check: sdk.CheckState{State: sdk.CheckOK}, Result: &sdk.Result{Tag: "24-alpine"},
		UpdateAvailable: true,
		Image:           sdk.Image{Name: "library/shop-web", Tag: sdk.Tag{Value: "latest"}, Built: true},
		Base:            &sdk.Image{Registry: sdk.Registry{Host: "docker.io"}, Name: "library/node"},
		UpdateKind:      sdk.UpdateKind{Kind: sdk.KindTag, RemoteValue: "24-alpine", SemverDiff: sdk.DiffMajor},
	}
	c.Base.Tag.Value = "22-alpine"
	if r := rowOf(c); r.update != "base node:22-alpine → 24-alpine; rebuild" || r.standing.Word != sdk.DiffMajor {
		t.Errorf("%+v", r)
	}
	c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, RemoteValue: "sha256:" + strings.Repeat("b2", 32)}
	if r := rowOf(c); r.update != "base node:22-alpine → b2b2b2b2b2b2; rebuild" {
		t.Errorf("%+v", r)
	}
	all, err := (&updating{containers: []sdk.Container{c}}).selected(updateFlags{all: true}, nil)
	if err != nil || len(all) != 0 {
		t.Errorf("update --all takes %+v, %v", all, err)
	}
}
