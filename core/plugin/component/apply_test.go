package component

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func mailSection(name, host string) config.Component {
	return section(kind.Trigger, "mail", name, map[string]string{"host": host})
}

func TestApplyChangesOnlyWhatIsOther(t *testing.T) {
	hub := section(kind.Registry, "hub", "mine", map[string]string{"hosts": "r.example.org"})
	m := load(t, Options{}, mailSection("same", "mx1"), mailSection("other", "mx1"), mailSection("gone", "mx1"), hub)
	same, _ := m.Trigger("mail.same")
	gone, _ := m.Trigger("mail.gone")
	other, _ := m.Trigger("mail.other")
	next := []config.Component{mailSection("other", "mx2"), mailSection("new", "mx1"), mailSection("same", "mx1"), hub}
	want := Changes{
		Added: []string{"trigger.mail.new"}, Changed: []string{"trigger.mail.other"}, Removed: []string{"trigger.mail.gone"},
	}
	if got := m.Compare(next); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("would change %+v, want %+v", got, want)
	}
	if got := m.Apply(t.Context(), next); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("changed %+v, want %+v", got, want)
	}
	if now, _ := m.Trigger("mail.same"); now != same {
		t.Error("what stays the same is made anew")
	}
	if got := ids(m.Triggers()); !slices.Equal(got, []string{"mail.new", "mail.other", "mail.same"}) {
		t.Errorf("triggers: %v", got)
	}
	for _, c := range m.Triggers() {
		if state, err := c.State(); state != Ready {
			t.Errorf("%s is %s: %v", c.ID(), state, err)
		}
		if err := c.Run(t.Context(), trigger.Request{}); err != nil {
			t.Error(err)
		}
	}
	if now, _ := m.Trigger("mail.other"); now == other || now.Options["host"] != "mx2" {
		t.Errorf("what changed has the options %v", now.Options)
	}
	if err := gone.Run(t.Context(), trigger.Request{}); err == nil {
		t.Error("what was removed still runs")
	}
	if again := m.Apply(t.Context(), next); again.Any() {
		t.Errorf("the same once more changes %+v", again)
	}
}

// TestApplyReplacesDefaults: the default watcher goes when one is configured, and comes back.
func TestApplyReplacesDefaults(t *testing.T) {
	m := load(t, Options{})
	m.Apply(t.Context(), []config.Component{section(kind.Watcher, "engine", "nas", nil)})
	if got := ids(m.Watchers()); !slices.Equal(got, []string{"engine.nas"}) {
		t.Errorf("watchers: %v", got)
	}
	m.Apply(t.Context(), nil)
	if got := ids(m.Watchers()); !slices.Equal(got, []string{"engine.local"}) {
		t.Errorf("watchers: %v", got)
	}
	if got := m.WatcherNames(); !slices.Equal(got, []string{"local"}) {
		t.Errorf("names: %v", got)
	}
}

// TestApplyMendsWhatWasWrong: of two watchers with one name the second works once the first is gone.
func TestApplyMendsWhatWasWrong(t *testing.T) {
	m := load(t, Options{}, mailSection("wrong", ""), section(kind.Trigger, "mial", "typo", nil))
	if n := len(m.Problems()); n < 2 {
		t.Fatalf("%d problems: %v", n, m.Problems())
	}
	changes := m.Apply(t.Context(),
		[]config.Component{mailSection("wrong", "mx1"),
			section(kind.Trigger, "mail", "typo", map[string]string{"host": "mx"})})
	if all := m.Problems(); len(all) > 0 {
		t.Errorf("problems: %v", all)
	}
	if len(changes.Changed) != 1 || len(changes.Added) != 1 || len(changes.Removed) != 1 {
		t.Errorf("changes: %+v", changes)
	}
	// A mistake in what worked leaves the other one at work, and its plugin without it.
	m.Apply(t.Context(), []config.Component{mailSection("wrong", ""), mailSection("typo", "mx")})
	if c, _ := m.Trigger("mail.wrong"); c.Usable() {
		t.Error("a component without its host is usable")
	} else if err := c.Run(t.Context(), trigger.Request{}); err == nil {
		t.Error("its plugin still has it")
	}
	if c, _ := m.Trigger("mail.typo"); !c.Usable() {
		t.Error("the other one is not usable")
	}
}

func TestValidateNamesMistakesAndChangesNothing(t *testing.T) {
	m := load(t, Options{}, mailSection("main", "mx1"), mailSection("wrong", "refused.example.org"))
	before, _ := m.Trigger("mail.main")
	for _, c := range []struct {
		about    string
		sections []config.Component
		want     string
	}{
		{"nothing new", []config.Component{mailSection("main", "mx1"), mailSection("wrong", "refused.example.org")}, ""},
		{"a change", []config.Component{mailSection("main", "mx2")}, ""},
		{"refused by the host", []config.Component{mailSection("main", "")}, "trigger.mail.main.host"},
		{"refused by the plugin", []config.Component{mailSection("main", "refused.example.org")},
			"trigger.mail.main.host: is refused"},
		{"an unknown type", []config.Component{section(kind.Trigger, "mial", "main", nil)}, "did you mean mail?"},
		{"two of a name",
			[]config.Component{section(kind.Watcher, "engine", "a", nil), section(kind.Watcher, "engine", "a", nil)},
			"a watcher named \"a\" already"},
	} {
		var got []string
		for _, p := range m.Validate(t.Context(), c.sections) {
			got = append(got, p.String())
		}
		if text := strings.Join(got, "\n"); c.want == "" && text != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.about, text, c.want)
		}
	}
	if now, _ := m.Trigger("mail.main"); now != before {
		t.Error("it changed something")
	}
	if err := before.Run(t.Context(), trigger.Request{}); err != nil {
		t.Error(err)
	}
}

// TestApplyWithoutGaps: while a configuration is applied again and again, what is in
// both can be called at any moment.
func TestApplyWithoutGaps(t *testing.T) {
	m := load(t, Options{}, mailSection("same", "mx1"), mailSection("other", "mx0"))
	stop, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			for _, id := range []string{"mail.same", "mail.other"} {
				c, known := m.Trigger(id)
				err := errors.New(id + " is not listed")
				if known {
					err = c.Run(t.Context(), trigger.Request{})
				}
				if err != nil {
					failed <- err
					return
				}
			}
			select {
			case <-stop:
				failed <- nil
				return
			default:
			}
		}
	}()
	for i := range 50 {
		m.Apply(t.Context(), []config.Component{mailSection("same", "mx1"), mailSection("other", fmt.Sprint("mx", i+1))})
	}
	close(stop)
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// BenchmarkApply changes one of 40 components.
func BenchmarkApply(b *testing.B) {
	var sections []config.Component
	for i := range 40 {
		sections = append(sections, mailSection(fmt.Sprint("n", i), "mx1"))
	}
	m := load(b, Options{}, sections...)
	for i := 0; b.Loop(); i++ {
		sections[20] = mailSection("n20", fmt.Sprint("mx", i+2))
		if c := m.Apply(b.Context(), sections); len(c.Changed) != 1 {
			b.Fatalf("changed %+v", c)
		}
	}
}
