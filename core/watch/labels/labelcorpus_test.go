package labels

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/internal/reference"
)

var updateGolden = flag.Bool("update", false, "rewrite golden files")

// labelCorpus are the labels found in public deployments of What's Up Docker.
type labelCorpus struct {
	Labels []struct {
		Label, Status string
		Values        []struct{ Value string }
	}
	WrongLabels []struct{ Label, Note string }
	Services    []struct {
		Image  string
		Labels map[string]string
	}
}

func labelCorpusOf(t *testing.T) labelCorpus {
	t.Helper()
	data, err := os.ReadFile("../../config/testdata/corpus/labels.json")
	if err != nil {
		t.Fatal(err)
	}
	var c labelCorpus
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCorpusLabels reads every label with every known value, under the prefix
// of What's Up Docker and under ours, and compares what becomes of it.
func TestCorpusLabels(t *testing.T) {
	var got strings.Builder
	for _, l := range labelCorpusOf(t).Labels {
		name := strings.TrimPrefix(l.Label, label.WUDPrefix)
		if known := l.Status == "WUD 8.3.1"; known != label.Known(name) {
			t.Errorf("%s: known is %t", l.Label, !known)
		}
		for _, v := range l.Values {
			outcome := outcomes(Read(label.Set{Operator: map[string]string{l.Label: v.Value}}, Options{WatchByDefault: true}))
			fmt.Fprintf(&got, "%s=%s\n%s", l.Label, v.Value, outcome)
			ours := outcomes(Read(label.Set{Operator: map[string]string{label.Prefix + name: v.Value}},
				Options{WatchByDefault: true}))
			if label.Known(name) && strings.ReplaceAll(ours, label.Prefix, label.WUDPrefix) != outcome {
				t.Errorf("%s=%s: as ours %s", l.Label, v.Value, ours)
			}
		}
	}
	golden(t, "testdata/corpus-labels.golden", got.String())
}

// outcomes lists what a policy asks for and complains about, one thing a line.
func outcomes(p Labels) string {
	var b strings.Builder
	for _, r := range p.Sources {
		fmt.Fprintf(&b, "\t%s = %s\n", r.Name, r.Value)
	}
	for _, complaint := range slices.Concat(p.Fatal, p.Wrong, p.Warnings) {
		fmt.Fprintf(&b, "\t! %s\n", complaint)
	}
	return b.String()
}

// TestCorpusWrongLabels: every mistake that is known from the wild is named,
// except where another program reads the label.
func TestCorpusWrongLabels(t *testing.T) {
	for _, w := range labelCorpusOf(t).WrongLabels {
		for _, name := range strings.FieldsFunc(w.Label, func(c rune) bool { return strings.ContainsRune(",/ ", c) }) {
			p := Read(label.Set{Operator: map[string]string{name: "x"}}, Options{WatchByDefault: true})
			quiet := strings.HasPrefix(name, "wud.trigger.")
			if !p.Watch || len(p.Sources)+len(p.Fatal)+len(p.Wrong) > 0 || quiet != (len(p.Warnings) == 0) {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// TestCorpusServices reads the labels of every service, each of which must have
// the effect that is written, and compares what is wrong with them.
func TestCorpusServices(t *testing.T) {
	var got strings.Builder
	services, read := labelCorpusOf(t).Services, 0
	for _, s := range services {
		p := Read(label.Set{Operator: s.Labels}, Options{WatchByDefault: true})
		for name, value := range s.Labels {
			rest := strings.TrimPrefix(name, label.WUDPrefix)
			set := label.Known(rest) && rest != label.ComposeFile && strings.TrimSpace(value) != ""
			if set && !slices.Contains(p.Sources, Rule{Name: rest, Value: value, Source: "label " + name}) {
				t.Errorf("%s: %s=%s has no effect", s.Image, name, value)
			}
			read++
		}
		complaints := slices.Concat(p.Fatal, p.Wrong, p.Warnings)
		if ref, err := reference.Parse(s.Image); err != nil {
			complaints = append(complaints, err.Error())
		} else if chosen, err := p.Selector.Select(t.Context(), ref.Tag, []string{ref.Tag}); err != nil || chosen.Newer {
			t.Errorf("%s: %+v (%v)", s.Image, chosen, err)
		}
		for _, complaint := range complaints {
			fmt.Fprintf(&got, "%s\n\t! %s\n", s.Image, complaint)
		}
	}
	if len(services) < 400 || read < 800 {
		t.Errorf("only %d services with %d labels", len(services), read)
	}
	golden(t, "testdata/corpus-services.golden", got.String())
}

// golden compares got with a file, or rewrites it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *updateGolden {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}
