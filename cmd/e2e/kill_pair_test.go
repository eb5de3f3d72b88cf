package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// crashGap is how soon after the host the plugin is killed, too.
const crashGap = 400 * time.Millisecond

// receiver keeps which messages arrived, how often, and under which idempotency keys.
type receiver struct {
	arrived atomic.Pointer[func()] // called at each message, before it is confirmed

	mu       sync.Mutex
	messages map[string][]string // the keys of each copy, by what the message says
}

func (r *receiver) add(text, key string) {
	r.mu.Lock()
	r.messages[text] = append(r.messages[text], key)
	r.mu.Unlock()
	if arrived := r.arrived.Load(); arrived != nil {
		(*arrived)()
	}
}

func (r *receiver) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.messages[text]) > 0
}

// ServeHTTP receives what an http trigger sends.
func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var c sdk.Container
	if err := json.NewDecoder(req.Body).Decode(&c); err == nil {
		r.add(c.Result.Tag, req.Header.Get("Idempotency-Key"))
	}
}

// Reset, Logout, Mail, Rcpt and Data receive what an smtp trigger sends.
func (*receiver) Reset()                                 {}
func (*receiver) Logout() error                          { return nil }
func (*receiver) Mail(string, *gosmtp.MailOptions) error { return nil }
func (*receiver) Rcpt(string, *gosmtp.RcptOptions) error { return nil }
func (r *receiver) Data(body io.Reader) error {
	m, err := netmail.ReadMessage(body)
	if err != nil {
		return err
	}
	r.add(m.Header.Get("Subject"), m.Header.Get("Message-ID"))
	return nil
}

// listenSMTP serves mail to r and returns the port.
func listenSMTP(t *testing.T, r *receiver) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := gosmtp.NewServer(gosmtp.BackendFunc(func(*gosmtp.Conn) (gosmtp.Session, error) { return r, nil }))
	server.Domain, server.ErrorLog = "test", log.New(io.Discard, "", 0)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// TestKillHostAndPluginDuringDelivery kills the host while a message is under way,
// and the trigger plugin of the next host as soon as anything is sent again,
// at most crashGap later. A message may come once more for it, not twice; the
// copies carry one idempotency key, and no other message has the same.
func TestKillHostAndPluginDuringDelivery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	for _, kind := range []string{"http", "smtp"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := &receiver{messages: map[string][]string{}}
			f := newFleet(t, apps, registrysim.Options{ETags: true})
			env := f.env()
			if kind == "http" {
				sink := httptest.NewServer(r)
				t.Cleanup(sink.Close)
				env = append(env, "DOGWATCH_TRIGGER_HTTP_SINK_URL="+sink.URL)
			} else {
				env = append(env, "DOGWATCH_TRIGGER_SMTP_SINK_HOST=127.0.0.1", fmt.Sprint("DOGWATCH_TRIGGER_SMTP_SINK_PORT=", listenSMTP(t, r)),
					"DOGWATCH_TRIGGER_SMTP_SINK_FROM=dogwatch@example.org", "DOGWATCH_TRIGGER_SMTP_SINK_TO=ana@example.org",
					"DOGWATCH_TRIGGER_SMTP_SINK_BACKLOG=each", "DOGWATCH_TRIGGER_SMTP_SINK_SIMPLETITLE=${container.result.tag}")
			}
			killPairs(t, f, r, install(t, env...))
		})
	}
}

func killPairs(t *testing.T, f *fleet, r *receiver, in *installation) {
	const rounds = 5
	d := in.start()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	for round := range rounds {
		tag := fmt.Sprintf("1.%d.0", round+1)
		f.registry(round).Push(f.repo(round), tag)
		d = strikeTwice(t, r, in, d)
		get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
		eventually(t, tag+" is sent", func() bool { return r.has(tag) })
		d.settled()
	}
	d.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	owners := map[string]string{}
	for text, keys := range r.messages {
		if len(keys) > 2 {
			t.Errorf("%s came %d times", text, len(keys))
		}
		for _, key := range keys {
			if owner, taken := owners[key]; key == "" || taken && owner != text {
				t.Errorf("%s and %s have the key %q", owner, text, key)
			}
			owners[key] = text
		}
	}
	if len(owners) != len(r.messages) {
		t.Errorf("%d keys for %d messages", len(owners), len(r.messages))
	}
}

// strikeTwice kills the host when a message arrives, starts it again, and kills
// its plugin at the next message, or crashGap later.
func strikeTwice(t *testing.T, r *receiver, in *installation, d *daemon) *daemon {
	t.Helper()
	kill := func(pid int) <-chan struct{} {
		struck := make(chan struct{})
		blow := sync.OnceFunc(func() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			close(struck)
		})
		r.arrived.Store(&blow)
		return struck
	}
	struck := kill(d.cmd.Process.Pid)
	go func() { // the answer may never come
		if resp, err := http.Post(d.url+"/api/containers/watch", "", nil); err == nil {
			resp.Body.Close()
		}
	}()
	select {
	case <-struck:
	case <-time.After(maxWait):
		t.Fatal("no message came")
	}
	r.arrived.Store(nil)
	<-d.done
	d = in.start()
	pid := 0
	eventually(t, "the plugin is up", func() bool { pid = pidOfBundle(d, "trigger"); return pid != 0 })
	struck = kill(pid)
	select {
	case <-struck:
	case <-time.After(crashGap):
		(*r.arrived.Load())()
	}
	r.arrived.Store(nil)
	return d
}
