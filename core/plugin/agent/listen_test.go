package agent

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/backoff"
)

// TestAgentDialsTCP joins, links and is examined at an address of its own, and the link ends with the listener.
func TestAgentDialsTCP(t *testing.T) {
	s := newSite(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.accept(ctx, l) }()
	address := "tcp://" + l.Addr().String()
	dir := t.TempDir()
	_, err = s.joinAs(t, JoinOptions{Dir: dir, URL: address})
	must(t, err)
	stop := s.host(t, dir, newEngine(), func(o *HostOptions) { o.pause = backoff.Pauses{First: 1e6, Longest: 1e7} })
	s.lists(t, "nas")
	if a := s.Agents()[0]; a.Address != "127.0.0.1" {
		t.Errorf("from %s", a.Address)
	}
	hops := Examine(t.Context(), HostOptions{Dir: dir, Version: "1.4.0", Log: s.logger(), Now: s.clock.now})
	if last := hops[len(hops)-1]; last.Err != nil {
		t.Errorf("%s: %v", last.Name, last.Err)
	}
	end()
	<-done
	eventually(t, "the link ends", func() error {
		if s.Agents()[0].Connected {
			return errors.New("it is connected")
		}
		return nil
	})
	stop()
}

func TestLinkURL(t *testing.T) {
	for address, want := range map[string]string{ // an error begins with "!"
		"https://dogwatch.example.org":        "https://dogwatch.example.org/agent/v1/link",
		"https://dogwatch.example.org/watch/": "https://dogwatch.example.org/watch/agent/v1/link",
		"tcp://10.0.0.5:3443":                 "tcp://10.0.0.5:3443",
		"tcp://[fd00::5]:3443/":               "tcp://[fd00::5]:3443/",
		"tcp://10.0.0.5":                      "!want tcp://HOST:PORT",
		"tcp://10.0.0.5:3443/watch":           "!want tcp://HOST:PORT",
		"ftp://10.0.0.5":                      "!https://, http:// or tcp://",
		"https://ana:secret@10.0.0.5":         "!want the address of a Dogwatch's pages",
		"10.0.0.5:3443":                       "!want the address",
	} {
		u, err := linkURL(address)
		wrong, fails := strings.CutPrefix(want, "!")
		switch {
		case fails:
			wants(t, address, err, wrong)
		case err != nil || u.String() != want:
			t.Errorf("%s: %v, %v", address, u, err)
		}
	}
}

// TestListenNamesTheSetting of an address that cannot be had.
func TestListenNamesTheSetting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	wants(t, "taken", newSite(t).Listen(t.Context(), l.Addr().String()), "set by agents.listen")
}
