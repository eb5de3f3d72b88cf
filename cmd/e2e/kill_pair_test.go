package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
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

var killPairs = flag.Int("killpairs", 5, "how many pairs of kills to play, of the host and of its plugin")

// crashGap is the most that the plugin of a host lives after the host's start. What a kill interrupted, and what else
// is due for its trigger, is sent 1.5 s later, so that the second kill meets neither.
const crashGap = 1400 * time.Millisecond

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

func (r *receiver) has(text string) bool { return r.count(text) > 0 }

func (r *receiver) count(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.messages[text])
}

// ServeHTTP receives what an http trigger sends.
func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var c sdk.Container
	if err := json.NewDecoder(req.Body).Decode(&c); err == nil {
		r.add("http "+c.Result.Tag, req.Header.Get("Idempotency-Key"))
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
	r.add("smtp "+m.Header.Get("Subject"), m.Header.Get("Message-ID"))
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

// TestKillHostAndPluginDuringDelivery kills the host while messages of two triggers are under way, and the plugin of
// the next host at most crashGap after its start, while another update is found. Of such a pair each trigger
// repeats one message at most, and once; the copies carry one idempotency key, and no other message has the same.
// On a machine where the plugin takes longer to start, the second kill may repeat another one.
func TestKillHostAndPluginDuringDelivery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: kills processes")
	}
	r := &receiver{messages: map[string][]string{}}
	f := newFleet(t, apps, registrysim.Options{ETags: true})
	sink := httptest.NewServer(r)
	t.Cleanup(sink.Close)
	in := install(t, append(f.env(), "DOGWATCH_TRIGGER_HTTP_SINK_URL="+sink.URL,
		"DOGWATCH_TRIGGER_SMTP_SINK_HOST=127.0.0.1", fmt.Sprint("DOGWATCH_TRIGGER_SMTP_SINK_PORT=", listenSMTP(t, r)),
		"DOGWATCH_TRIGGER_SMTP_SINK_FROM=dogwatch@example.org", "DOGWATCH_TRIGGER_SMTP_SINK_TO=ana@example.org",
		"DOGWATCH_TRIGGER_SMTP_SINK_BACKLOG=each", "DOGWATCH_TRIGGER_SMTP_SINK_SIMPLETITLE=${container.result.tag}")...)
	d := in.start()
	get[[]sdk.Container](d, http.MethodPost, "/api/containers/watch")
	copies, slow := map[int]int{}, 0
	for pair := range *killPairs {
		first, second := fmt.Sprintf("1.%d.0", 2*pair+1), fmt.Sprintf("1.%d.0", 2*pair+2)
		one, other := 2*pair%apps, (2*pair+1)%apps
		f.registry(one).Push(f.repo(one), first)
		var late bool
		d, late = strikeTwice(t, r, in, d, func() { f.registry(other).Push(f.repo(other), second) })
		most := 3
		if late {
			slow++
			most = 4
		}
		for _, trigger := range []string{"http ", "smtp "} {
			eventually(t, trigger+first+" and "+second+" are sent", func() bool {
				if r.has(trigger+first) && r.has(trigger+second) {
					return true
				}
				checkAll(d) // one that was under way when the update was published has not seen it
				return false
			})
		}
		d.settled()
		for _, trigger := range []string{"http ", "smtp "} {
			n := r.count(trigger+first) + r.count(trigger+second)
			if copies[n]++; n > most {
				t.Errorf("pair %d: %s came %d times, %s %d times", pair, trigger+first, r.count(trigger+first), second,
					r.count(trigger+second))
			}
		}
	}
	d.stop()
	t.Logf("%d pairs of kills, %d of them slow; pairs of messages of a trigger by how many copies came: %v",
		*killPairs, slow, copies)
	r.checkKeys(t)
}

// checkKeys checks that all copies of a message have one key, and different ones different keys.
func (r *receiver) checkKeys(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	owners := map[string]string{}
	for text, keys := range r.messages {
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

// checkAll has the containers checked; the answer may never come.
func checkAll(d *daemon) {
	if resp, err := http.Post(d.url+"/api/containers/watch", "", nil); err == nil {
		resp.Body.Close()
	}
}

// strikeTwice kills the host when a message arrives, starts it again, and kills its plugin at most crashGap later,
// while another update is found. late is true when the plugin was up only after that.
func strikeTwice(t *testing.T, r *receiver, in *installation, d *daemon, publish func()) (next *daemon, late bool) {
	t.Helper()
	struck := make(chan struct{})
	blow := sync.OnceFunc(func() {
		_ = d.cmd.Process.Kill()
		close(struck)
	})
	r.arrived.Store(&blow)
	go checkAll(d)
	select {
	case <-struck:
	case <-time.After(maxWait):
		t.Fatal("no message came")
	}
	r.arrived.Store(nil)
	<-d.done
	began := time.Now()
	next = in.start()
	pid := 0
	eventually(t, "the plugin is up", func() bool { pid = pidOfBundle(next, "trigger"); return pid != 0 })
	publish()
	go checkAll(next)
	time.Sleep(time.Until(began.Add(rand.N(crashGap))))
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return next, time.Since(began) > crashGap
}
