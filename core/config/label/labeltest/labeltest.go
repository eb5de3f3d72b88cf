// Package labeltest has what the tests of all that read labels have in common: the labels as
// the documentation lists them, and label sets at random.
package labeltest

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
)

// Case is a label of the documentation.
type Case struct {
	// Name is without prefix; Labels are its full names, ours first.
	Name   string
	Labels []string
	Area   label.Area
	// Image is what docs/security.md says of it as the label of an image.
	Image label.Say
	// Value has an effect. One that only tightens has one where less happens with it than
	// by Loose rules, and none where more would than by Strict ones.
	Value string
}

// values are those of the cases.
var values = map[string]string{
	label.Watch: "false", label.WatchDigest: "true", label.TagInclude: "^1", label.TagExclude: "^2",
	label.TagTransform:  "^v => ",
	label.TagPrerelease: "true", label.TagImplausible: "true",
	label.LinkTemplate: "https://example.org/${raw}", label.DisplayName: "Name",
	label.DisplayIcon:    "mdi:x",
	label.Base:           "node:22-alpine",
	label.TriggerInclude: "smtp.main", label.TriggerExclude: "smtp.main", label.TriggerOnDigest: "false",
	label.ComposeFile: "/srv/compose.yaml",
	label.SourceFile:  "apps/web/values.yaml", label.SourceRepository: "ana/homelab",
	label.ProbeHTTP: ":8080/health", label.ProbeTCP: ":5432", label.ProbeCommand: "true",
	label.ProbeWindow: "1m", label.ProbeInterval: "1s",
	label.UpdateAuto: "false", label.UpdateKeep: "3", label.UpdateAcknowledge: "data.writable-layer",
	label.UpdateStopSignal: "SIGINT",
	label.HookPre:          "dump", label.HookPost: "load", label.HookTimeout: "1m",
	label.Policy: "careful", label.Update: "approve", label.UpdateMajor: "approve", label.UpdateThreshold: "patch",
	label.UpdateMinAge:   "14d",
	label.UpdateSecurity: "low",
	label.UpdateWindow:   "daily 03:00-04:00", label.UpdateFreeze: "12-20..01-05", label.UpdateSkip: "^3",
	label.UpdateZone: "Asia/Tokyo",
}

// Documented returns every label that docs/configuration.md lists. It fails where that, the
// table of docs/security.md and the program do not have the same labels.
func Documented(t testing.TB) []Case {
	t.Helper()
	table := Table(t)
	var cases []Case
	area := label.Area("")
	_, text, found := strings.Cut(read(t, "configuration.md"), "\n## Labels\n")
	if !found {
		t.Fatal("docs/configuration.md lists no labels")
	}
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			area = label.Area(strings.TrimSpace(title))
		}
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[1], "`"+label.Prefix) {
			continue
		}
		c := Case{Labels: codes(cells[1] + cells[2]), Area: area}
		c.Name = strings.TrimPrefix(c.Labels[0], label.Prefix)
		c.Value = values[c.Name]
		may, known := table[c.Labels[0]]
		if !known || c.Value == "" || may.String() != strings.TrimSpace(cells[len(cells)-2]) {
			t.Errorf("%s is not in the table of docs/security.md, says something else there, or has no value here", c.Labels[0])
		}
		c.Image = may
		cases = append(cases, c)
		delete(table, c.Labels[0])
	}
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if want := slices.Sorted(slices.Values(label.Names())); !slices.Equal(names, want) {
		t.Errorf("docs/configuration.md lists %q, want %q", names, want)
	}
	for name := range table {
		if strings.HasPrefix(name, label.Prefix) {
			t.Errorf("docs/security.md has %s, which docs/configuration.md does not list", name)
		}
	}
	return cases
}

// Table returns what docs/security.md says of labels, by their full names.
func Table(t testing.TB) map[string]label.Say {
	t.Helper()
	table := map[string]label.Say{}
	for line := range strings.Lines(read(t, "security.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		for _, say := range []label.Say{label.Never, label.Tightens, label.Describes} {
			if strings.TrimSpace(cells[2]) != say.String() {
				continue
			}
			for _, name := range codes(cells[1]) {
				if _, twice := table[name]; twice {
					t.Errorf("docs/security.md says twice what an image may say by %s", name)
				}
				table[name] = say
			}
		}
	}
	return table
}

var code = regexp.MustCompile("`([^`]+)`")

func codes(text string) (all []string) {
	for _, found := range code.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	return all
}

func read(t testing.TB, name string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "../../../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
