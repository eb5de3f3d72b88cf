package agent

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestControllerExaminesTheWay names the hop that does not work, as far as it is seen from the controller.
func TestControllerExaminesTheWay(t *testing.T) {
	s := newSite(t)
	dir := s.join(t, "nas")
	examine := func(public string) (last Hop, names string) {
		t.Helper()
		hops, err := s.Examine(t.Context(), "nas", public)
		must(t, err)
		var all []string
		for i, h := range hops {
			if all = append(all, h.Name); h.Err != nil && i < len(hops)-1 {
				t.Errorf("%s: %v, and it goes on", h.Name, h.Err)
			}
		}
		return hops[len(hops)-1], strings.Join(all, " ")
	}
	for _, c := range []struct{ what, public, names, want string }{
		{"never connected", s.url, "agent name proxy controller connection", "never connected"},
		{"no address", "", "agent address connection", "never connected"},
		{"no such name", "http://nas.invalid", "agent name", "nas.invalid"},
		{"nobody there", "http://127.0.0.1:1", "agent name proxy", "refused"},
		{"another path", s.url + "/else", "agent name proxy", "404"},
	} {
		last, names := examine(c.public)
		if names != c.names || last.Err == nil || !strings.Contains(last.Err.Error(), c.want) {
			t.Errorf("%s: %s, %v", c.what, names, last.Err)
		}
	}
	other := newSite(t)
	other.ca(t)
	if last, _ := examine(other.url); last.Err == nil || last.Err.Error() != "another Dogwatch answers there" {
		t.Errorf("%+v", last)
	}
	if strings.Contains(s.log.String(), "refused") {
		t.Errorf("its own connections are logged:\n%s", s.log)
	}

	engine := newEngine()
	stop := s.host(t, dir, engine, func(o *HostOptions) {
		o.Watcher.limits = Limits{Stacks: []string{"media", "web"}}
	})
	s.lists(t, "nas")
	last, names := examine(s.url)
	if names != "agent connection certificate engine rights" || last.Err != nil ||
		last.Found != "its owner allows updates of these stacks only: media, web; the commands of hook labels do not run" {
		t.Errorf("%s: %+v", names, last)
	}
	engine.fail(errors.New("permission denied on /var/run/docker.sock"))
	if last, _ = examine(s.url); last.Name != "engine" || last.Err == nil ||
		!strings.Contains(last.Err.Error(), "permission denied") {
		t.Errorf("%+v", last)
	}
	engine.fail(nil)
	stop()
	eventually(t, "the link ends", func() error {
		if s.Agents()[0].Connected {
			return errors.New("it is connected")
		}
		return nil
	})
	if last, _ = examine(s.url); last.Err == nil || !strings.Contains(last.Err.Error(), "it was last at") {
		t.Errorf("%+v", last)
	}
	// An agent that is too old is refused, and that is said.
	stop = s.host(t, dir, engine, func(o *HostOptions) { o.Version = "1.0.0" })
	defer stop()
	eventually(t, "the refusal is said", func() error {
		if last, _ := examine(s.url); last.Err == nil || !strings.Contains(last.Err.Error(), "its last connection was "+
			"refused; it came from") || !strings.Contains(last.Err.Error(), "up to 2 minor versions older") {
			return errors.New(last.Found)
		}
		return nil
	})
	if _, err := s.Examine(t.Context(), "attic", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestLimitsOf an agent are bounded, and shown as text.
func TestLimitsOf(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = strings.Repeat("x", 1000) + "\n\x1b[31m"
	}
	many[0] = "a\nb\x1b[31m"
	l := limitsOf(hello{Updates: true, Stacks: many, Hooks: true})
	if len(l.Stacks) != maxStacks || len(l.Stacks[1]) > maxVersion || strings.ContainsAny(l.Stacks[0], "\n\x1b") || !l.Hooks {
		t.Errorf("%d, %q", len(l.Stacks), l.Stacks[:2])
	}
	if l = limitsOf(hello{Version: "1.2.3"}); !strings.Contains(l.ReadOnly, "Dogwatch 1.2.3, which only watches") {
		t.Errorf("%+v", l)
	}
	for want, l := range map[string]Limits{
		"its owner allows no updates: because":                             {ReadOnly: "because"},
		"its owner allows updates; the commands of hook labels do not run": {},
		"its owner allows updates of these stacks only: a, b; the logs of containers may be read": {
			Stacks: []string{"a", "b"}, Hooks: true, Logs: true,
		},
	} {
		if got := l.String(); got != want {
			t.Errorf("%+v: %s", l, got)
		}
	}
}

// TestRefusalsAreBounded, the latest stay.
func TestRefusalsAreBounded(t *testing.T) {
	var c Controller
	for i := range 3 * maxRefused {
		c.noteRefusal(refusal{at: time.Unix(int64(i), 0)})
	}
	if last := c.refused[len(c.refused)-1]; len(c.refused) != maxRefused || last.at.Unix() != 3*maxRefused-1 {
		t.Errorf("%d, last %v", len(c.refused), last.at)
	}
}
