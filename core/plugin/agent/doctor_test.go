package agent

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/hashicorp/go-hclog"
)

// TestExamineNamesTheHop that does not work, and does not disturb the agent.
func TestExamineNamesTheHop(t *testing.T) {
	s, other := newSite(t), newSite(t)
	dir := s.join(t, "nas")
	s.host(t, dir, newEngine())
	s.lists(t, "nas")
	since := s.Agents()[0].Since
	edit := func(change func(*Identity)) string {
		i, err := LoadIdentity(dir)
		must(t, err)
		change(&i)
		folder := t.TempDir()
		must(t, i.save(folder, identityFile))
		return folder
	}
	damaged := t.TempDir()
	must(t, os.WriteFile(filepath.Join(damaged, identityFile), []byte("{"), 0o600))
	later := func() time.Time { return time.Now().Add(certificateLife + time.Hour) }
	for what, c := range map[string]struct {
		dir       string
		now       func() time.Time
		hop, want string
	}{
		"all is well":        {dir, nil, "controller", ""},
		"not joined":         {t.TempDir(), nil, "identity", "has not joined"},
		"damaged":            {damaged, nil, "identity", "join again"},
		"expired":            {dir, later, "certificate", "set the clock, or join again"},
		"no such name":       {edit(func(i *Identity) { i.URL = "http://nas.invalid" }), nil, "name", "nas.invalid"},
		"nobody there":       {edit(func(i *Identity) { i.URL = "http://127.0.0.1:1" }), nil, "connection", "refused"},
		"another path":       {edit(func(i *Identity) { i.URL += "/else" }), nil, "connection", "404"},
		"another controller": {edit(func(i *Identity) { i.URL = other.url }), nil, "controller", ""},
	} {
		if c.now == nil {
			c.now = time.Now
		}
		if what == "another controller" {
			other.ca(t)
			c.want = "authority"
		}
		hops := Examine(t.Context(), HostOptions{Dir: c.dir, Version: "1.4.0", Log: hclog.NewNullLogger(), Now: c.now})
		last := hops[len(hops)-1]
		if last.Name != c.hop || (last.Err == nil) != (c.want == "") ||
			last.Err != nil && !strings.Contains(last.Err.Error(), c.want) {
			t.Errorf("%s: %s, %v, want %s, %q", what, last.Name, last.Err, c.hop, c.want)
		}
	}
	must(t, s.Revoke(t.Context(), "nas"))
	hops := Examine(t.Context(), HostOptions{Dir: dir, Version: "1.4.0", Log: hclog.NewNullLogger(), Now: time.Now})
	wants(t, "revoked", hops[len(hops)-1].Err, "knows no agent with this key")
	if since.IsZero() {
		t.Error("it was not connected")
	}
}

// TestExamineEnds although what answers says nothing.
func TestExamineEnds(t *testing.T) {
	s := newSite(t)
	ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	silent := func(context.Context, string) (net.Conn, error) {
		here, there := net.Pipe()
		t.Cleanup(func() { there.Close() })
		return here, nil
	}
	hops := Examine(ctx, HostOptions{Dir: s.join(t, "nas"), Version: "1.4.0", Now: time.Now, dial: silent})
	if last := hops[len(hops)-1]; last.Name != "controller" || last.Err == nil {
		t.Errorf("%+v", last)
	}
}

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
	if last, _ = examine(s.url); last.Err == nil || !strings.Contains(last.Err.Error(), "it was last at") ||
		!strings.Contains(sdk.Remedy(last.Err), "dogwatch agent") {
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
