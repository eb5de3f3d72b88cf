package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// handshake returns the first error of either side.
func handshake(client, server *tls.Config) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	dialed, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer dialed.Close()
	accepted, err := l.Accept()
	if err != nil {
		return err
	}
	defer accepted.Close()
	theirs := make(chan error, 1)
	go func() { theirs <- tls.Server(accepted, server).Handshake() }()
	secure := tls.Client(dialed, client)
	return errors.Join(secure.Handshake(), <-theirs)
}

func TestLink(t *testing.T) {
	s := newSite(t)
	e := newEngine()
	dir := s.join(t, "nas")
	if _, err := s.Client(t.Context(), idOf("nas"), false); err == nil || !strings.Contains(err.Error(), "was never connected") {
		t.Errorf("before it is there: %v", err)
	}
	s.host(t, dir, e)
	all, err := s.list(t.Context(), "nas")
	if err != nil || len(all) != 1 || all[0].Name != "web" || !slices.Equal(all[0].ImageLabels, []string{"c"}) {
		t.Fatalf("%+v, %v", all, err)
	}
	c, err := s.Client(t.Context(), idOf("nas"), false)
	must(t, err)
	if found, err := c.Probe(t.Context(), idOf("nas"), sdk.ProbeRequest{}); err != nil || found.Summary != "engine 29" {
		t.Errorf("%+v, %v", found, err)
	}
	ctx, end := context.WithCancel(t.Context())
	got := make(chan watcher.Event, 4)
	done := make(chan error, 1)
	go func() { done <- c.Watcher(idOf("nas")).Watch(ctx, func(e watcher.Event) { got <- e }) }()
	if first := <-got; first.Action != watcher.ActionChanged {
		t.Errorf("%+v, want the containers to be listed", first)
	}
	e.events <- watcher.Event{ContainerID: "c1", Action: watcher.ActionStatus, Status: "exited"}
	if second := <-got; second.Status != "exited" || second.ContainerID != "c1" {
		t.Errorf("%+v", second)
	}
	end()
	<-done
	if all := s.Agents(); !all[0].Connected || all[0].Version != "1.4.0" || all[0].Address == "" {
		t.Errorf("%+v", all)
	}
	if _, err := s.Client(t.Context(), idOf("nos"), false); err == nil || !strings.Contains(err.Error(), "has joined") {
		t.Errorf("none of that name: %v", err)
	}
}

// TestLinkBreaks and comes back: cut, frozen, and at every byte from the first on.
func TestLinkBreaks(t *testing.T) {
	s := newSite(t)
	s.host(t, s.join(t, "nas"), newEngine())
	s.lists(t, "nas")
	for what, breaks := range map[string]func(){
		"cut":    s.relay.cut,
		"frozen": func() { s.relay.frozen.Store(true) },
	} {
		t.Run(what, func(t *testing.T) {
			c, err := s.Client(t.Context(), idOf("nas"), false)
			must(t, err)
			watched := make(chan error, 1)
			begun := make(chan struct{}, 1)
			go func() {
				watched <- c.Watcher(idOf("nas")).Watch(t.Context(), func(watcher.Event) { begun <- struct{}{} })
			}()
			<-begun
			breaks()
			if err := <-watched; !errors.Is(err, protocol.ErrGone) {
				t.Errorf("the call under way: %v", err)
			}
			s.relay.frozen.Store(false)
			s.lists(t, "nas")
		})
	}
}

func TestRevocationEndsTheLink(t *testing.T) {
	s := newSite(t)
	s.host(t, s.join(t, "nas"), newEngine())
	s.lists(t, "nas")
	c, err := s.Client(t.Context(), idOf("nas"), false)
	must(t, err)
	must(t, s.Revoke(t.Context(), "nas"))
	if _, err := c.Watcher(idOf("nas")).List(t.Context()); err == nil {
		t.Error("its link goes on")
	}
	eventually(t, "be refused", func() error {
		if !strings.Contains(s.log.String(), "knows no agent with this key") {
			return errors.New("not yet")
		}
		return nil
	})
	if len(s.Agents()) != 0 {
		t.Errorf("%+v", s.Agents())
	}
	if err := s.Revoke(t.Context(), "nas"); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestRenamedAgentDialsInAgain(t *testing.T) {
	s := newSite(t)
	dir := s.join(t, "nas")
	s.host(t, dir, newEngine())
	s.lists(t, "nas")
	must(t, s.Rename(t.Context(), "nas", "attic"))
	s.lists(t, "attic")
	eventually(t, "keep its name", func() error {
		if i, err := LoadIdentity(dir); err != nil || i.Name != "attic" {
			return errors.New(i.Name)
		}
		return nil
	})
	if _, err := s.Client(t.Context(), idOf("nas"), false); err == nil {
		t.Error("its old name is known")
	}
	for _, name := range []string{"local", "A b"} {
		if err := s.Rename(t.Context(), "attic", name); err == nil {
			t.Errorf("the name %q", name)
		}
	}
}

// TestAnothersIdentityIsNoUse: without its key a certificate is none, and that of another authority is of nobody.
func TestAnothersIdentityIsNoUse(t *testing.T) {
	s, other := newSite(t), newSite(t)
	nas, err := LoadIdentity(s.join(t, "nas"))
	must(t, err)
	pi, err := LoadIdentity(s.join(t, "pi"))
	must(t, err)
	stolen := pi
	stolen.Certificate = nas.Certificate
	if _, err := stolen.tls(protocolLink, time.Now); err == nil {
		t.Error("a certificate without its key")
	}
	foreign, err := LoadIdentity(other.join(t, "nas"))
	must(t, err)
	trusting := foreign
	trusting.Authority = nas.Authority
	config, err := trusting.tls(protocolLink, time.Now)
	must(t, err)
	_, _, err = open(t.Context(), dial, s.url, config, hello{Version: "1.4.0"})
	wants(t, "the certificate of another authority", err, "certificate")
	config, err = nas.tls(protocolLink, time.Now)
	must(t, err)
	_, _, err = open(t.Context(), dial, other.url, config, hello{Version: "1.4.0"})
	wants(t, "another controller at the address", err, "unknown authority")
	// An agent cannot have the key of another one signed.
	config, err = pi.tls(protocolRenew, time.Now)
	must(t, err)
	request, err := nas.request()
	must(t, err)
	_, err = exchange(t.Context(), dial, s.url, config, hello{Version: "1.4.0", Request: request})
	wants(t, "renewal with another key", err, "want the key that the agent has")
}

func TestCertificateRenewsItself(t *testing.T) {
	s := newSite(t)
	dir := s.join(t, "nas")
	before, err := LoadIdentity(dir)
	must(t, err)
	s.clock.move(certificateLife - renewBefore + time.Hour)
	s.host(t, dir, newEngine())
	s.lists(t, "nas")
	after, err := LoadIdentity(dir)
	if err != nil || after.Key != before.Key || after.expires().Sub(s.clock.now()) < certificateLife-time.Hour {
		t.Errorf("it expires at %s, %v", after.expires(), err)
	}
	s.clock.move(certificateLife + time.Hour)
	if _, err := after.tls(protocolLink, s.clock.now); err == nil || !strings.Contains(err.Error(), "join again") {
		t.Errorf("an expired certificate: %v", err)
	}
	config, err := after.tls(protocolLink, func() time.Time { return s.clock.now().Add(-2 * time.Hour) })
	must(t, err)
	_, _, err = open(t.Context(), dial, s.url, config, hello{Version: "1.4.0"})
	wants(t, "an expired certificate at the controller", err, "expired")
}

// TestClockMayBeADayOff on either side of the controller's.
func TestClockMayBeADayOff(t *testing.T) {
	for _, off := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		s := newSite(t)
		theirs := func() time.Time { return time.Now().Add(off) }
		dir := t.TempDir()
		_, err := s.joinAs(t, JoinOptions{Dir: dir, Now: theirs})
		must(t, err)
		s.host(t, dir, newEngine(), func(o *HostOptions) { o.Now = theirs })
		s.lists(t, "nas")
	}
}

// TestControllerFromABackup knows an agent whose certificate was renewed since, and none that joined since.
func TestControllerFromABackup(t *testing.T) {
	s := newSite(t)
	dir := s.join(t, "nas")
	saved, err := s.store.Agents(t.Context())
	must(t, err)
	s.clock.move(certificateLife - renewBefore + time.Hour)
	stop := s.host(t, dir, newEngine())
	s.lists(t, "nas")
	stop()
	later := s.join(t, "later")
	s.store.mu.Lock()
	s.store.agents = saved
	s.store.mu.Unlock()
	must(t, s.reload(t.Context()))
	s.host(t, dir, newEngine())
	s.lists(t, "nas")
	s.host(t, later, newEngine())
	eventually(t, "refuse the other", func() error {
		if !strings.Contains(s.log.String(), "the controller's store is an older one") {
			return errors.New("not yet")
		}
		return nil
	})
}

func TestVersionsThatWorkTogether(t *testing.T) {
	for _, c := range []struct {
		controller, agent string
		works             bool
	}{
		{"1.4.0", "1.4.7", true}, {"1.4.0", "1.3.0", true}, {"1.4.0", "1.2.9", true}, {"1.4.0", "1.1.9", false},
		{"1.4.0", "1.5.0", true}, {"2.0.0", "1.9.0", false}, {"1.9.0", "2.0.0", false}, {"dev", "1.0.0", true},
		{"1.4.0", "dev", true}, {"1.4.0", "", true}, {"v1.4.0", "v1.3.0-rc.1", true},
	} {
		if err := compatible(c.controller, c.agent); (err == nil) != c.works {
			t.Errorf("%s with %s: %v", c.controller, c.agent, err)
		}
	}
	s := newSite(t, func(o *ControllerOptions) { o.Version = "1.7.0" })
	_, err := s.joinAs(t, JoinOptions{})
	wants(t, "an old agent", err, "update the agent")
}

// TestConnectionsAreBounded while nobody has said who they are.
func TestConnectionsAreBounded(t *testing.T) {
	s := newSite(t)
	var silent []net.Conn
	for range maxStarting {
		conn, err := dial(t.Context(), s.url)
		must(t, err)
		silent = append(silent, conn)
	}
	eventually(t, "refuse one more", func() error {
		conn, err := dial(t.Context(), s.url)
		must(t, err)
		defer conn.Close()
		must(t, conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		_, err = conn.Read(make([]byte, 1))
		if strings.Contains(err.Error(), "deadline") {
			return err
		}
		return nil
	})
	for _, c := range silent {
		c.Close()
	}
	s.host(t, s.join(t, "nas"), newEngine())
	s.lists(t, "nas")
}

func TestDefaultName(t *testing.T) {
	for host, want := range map[string]string{
		"NAS": "nas", "my_nas.lan": "my-nas", "-x-": "x", "": "", "pi4": "pi4", "Ünï": "n", "a.b": "a",
		strings.Repeat("a", 80): strings.Repeat("a", 63),
	} {
		got := tidyName(host)
		if got != want || got != "" && CheckName(got) != nil {
			t.Errorf("%q becomes %q, want %q", host, got, want)
		}
	}
}

func TestLoadIdentityNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadIdentity(dir); err != ErrNotJoined {
		t.Errorf("none: %v", err)
	}
	temp, err := writeTemp(filepath.Join(dir, identityFile), []byte("{"))
	must(t, err)
	if _, err := readIdentity(temp); err == nil || !strings.Contains(err.Error(), "join again") {
		t.Errorf("half of one: %v", err)
	}
}

// TestWhatAnAgentSaysOfUpdates: an older one only watches, and no text of one is more than a line.
func TestWhatAnAgentSaysOfUpdates(t *testing.T) {
	for want, h := range map[string]hello{
		"": {Version: "1.4.0", Updates: true},
		"the agent there is Dogwatch 1.2.0, which only watches: update it": {Version: "1.2.0", ReadOnly: "no"},
		"there, set  it":             {Updates: true, ReadOnly: "there, set \nit"},
		strings.Repeat("a", maxSaid): {Updates: true, ReadOnly: strings.Repeat("a", maxSaid+9)},
	} {
		if got := limitsOf(h).ReadOnly; got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}
