package agent

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
