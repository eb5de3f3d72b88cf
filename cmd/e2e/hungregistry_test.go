package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
)

// stuck is a fleet of three registries, all of whose containers have an update,
// and of which the second hangs until release is called.
type stuck struct {
	*fleet
	t       testing.TB
	apps    int
	release func()
	// notified counts the notifications of triggers, by "trigger container".
	mu       sync.Mutex
	notified map[string]int
	url      string
}

func newStuck(t testing.TB) *stuck {
	sim := registrysim.Options{Auth: registrysim.Token, ETags: true}
	s := &stuck{t: t, apps: 12, notified: map[string]int{}}
	s.fleet = newFleet(t, s.apps, sim, sim, sim)
	for i := range s.apps {
		s.registry(i).Push(s.repo(i), "1.1.0")
	}
	released := make(chan struct{})
	s.release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(s.release)
	s.registries[1].Inject(registrysim.Any, -1, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	sink := httptest.NewServer(s)
	t.Cleanup(sink.Close)
	s.url = sink.URL
	return s
}

func (s *stuck) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var list []sdk.Container
	var one sdk.Container
	if r.URL.Path == "/batch" {
		_ = json.NewDecoder(r.Body).Decode(&list)
	} else if json.NewDecoder(r.Body).Decode(&one) == nil {
		list = append(list, one)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range list {
		s.notified[r.URL.Path[1:]+" "+c.Name]++
	}
}

// notifications returns of how many containers a trigger was notified, and how
// often of the one that it was notified of most.
func (s *stuck) notifications(trigger string) (containers, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for who, n := range s.notified {
		if strings.HasPrefix(who, trigger+" ") {
			containers, most = containers+1, max(most, n)
		}
	}
	return containers, most
}

func (s *stuck) install() *installation {
	return install(s.t, append(s.env(),
		"DOGWATCH_WATCHER_DOCKER_LOCAL_WATCHATSTART=false",
		"DOGWATCH_TRIGGER_HTTP_SIMPLE_URL="+s.url+"/simple",
		"DOGWATCH_TRIGGER_HTTP_BATCH_URL="+s.url+"/batch", "DOGWATCH_TRIGGER_HTTP_BATCH_MODE=batch")...)
}

// responding is how many containers are of the registries that respond.
func (s *stuck) responding() int { return s.apps / 3 * 2 }

func (s *stuck) hangs(c sdk.Container) bool {
	var i int
	_, err := fmt.Sscanf(c.Name, "c%d", &i)
	must(s.t, err)
	return s.registry(i) == s.registries[1]
}

func current(c sdk.Container) bool {
	return c.Check.State == sdk.CheckOK && c.UpdateAvailable && c.Result.Tag == "1.1.0"
}

// check begins a check of everything and returns what closes at its end.
func (s *stuck) check(d *daemon) (ended chan struct{}) {
	s.t.Helper()
	eventually(s.t, "watchers and registries are ready", func() bool {
		status, _ := d.request(http.MethodGet, "/api/ready", "")
		return status == http.StatusOK
	})
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := http.Post(d.url+"/api/containers/watch", "", nil); err == nil {
			resp.Body.Close()
		}
	}()
	return ended
}

// TestHungRegistryDelaysNoOther: while one of three registries hangs, the containers of
// the other two are right in the API and on the page before the check ends; progress
// is sent, and the batch waits for the end. BenchmarkHungRegistry says how long that takes.
func TestHungRegistryDelaysNoOther(t *testing.T) {
	t.Parallel()
	s := newStuck(t)
	d := s.install().start()
	progress := d.progress()
	ended := s.check(d)
	began := time.Now()
	done := func(c sdk.Container) bool { return !s.hangs(c) && current(c) }
	for time.Since(began) < maxWait {
		if all := d.containers(); len(slices.DeleteFunc(all, done)) == s.apps-s.responding() && len(all) == s.apps {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	_, page := d.request(http.MethodGet, "/containers", "")
	t.Logf("that took %s", time.Since(began))
	for _, c := range d.containers() {
		if s.hangs(c) && c.Check.State != sdk.CheckNever || !s.hangs(c) && !current(c) {
			t.Errorf("%s during the check: %+v", c.Name, c.Check)
		}
	}
	if n := strings.Count(string(page), `<b class="tag">1.1.0</b>`); n != s.responding() {
		t.Errorf("the page shows %d updates, want %d", n, s.responding())
	}
	if words := fmt.Sprintf("checking %d of %d", s.responding(), s.apps); !strings.Contains(string(page), words) {
		t.Errorf("the page does not say %q", words)
	}
	want := fmt.Sprintf(`{"checks":[{"watcher":"local","checked":%d,"total":%d}]}`, s.responding(), s.apps)
	for last := ""; last != want; {
		select {
		case last = <-progress:
		case <-time.After(maxWait):
			t.Fatalf("the stream never said %s, last %s", want, last)
		}
	}
	eventually(t, "simple triggers are told at once", func() bool {
		n, _ := s.notifications("simple")
		return n == s.responding()
	})
	if n, _ := s.notifications("batch"); n != 0 {
		t.Errorf("a batch of %d during the check", n)
	}
	select {
	case <-ended:
		t.Error("the check ended although a registry hangs")
	default:
	}

	s.release()
	<-ended
	eventually(t, "the batch is told at the end", func() bool {
		n, _ := s.notifications("batch")
		return n == s.responding()
	})
	d.settled()
	for _, c := range d.containers() {
		if s.hangs(c) && c.Check.State != sdk.CheckFailed || !s.hangs(c) && !current(c) {
			t.Errorf("%s at the end: %+v", c.Name, c.Check)
		}
	}
	for _, trigger := range []string{"simple", "batch"} {
		if n, most := s.notifications(trigger); n != s.responding() || most != 1 {
			t.Errorf("%s was notified of %d containers, %d times of one", trigger, n, most)
		}
	}
	d.stop()
}

// BenchmarkHungRegistry says after how long the results of the registries that respond are
// seen while another one hangs.
func BenchmarkHungRegistry(b *testing.B) {
	m := medians{}
	for range b.N {
		s := newStuck(b)
		d := s.install().start()
		ended := s.check(d)
		began := time.Now()
		for seen := 0; seen < s.responding(); time.Sleep(5 * time.Millisecond) {
			seen = 0
			for _, c := range d.containers() {
				if !s.hangs(c) && current(c) {
					seen++
				}
			}
			if time.Since(began) > maxWait {
				b.Fatalf("%d of %d are seen", seen, s.responding())
			}
		}
		m.add("ms-shown", float64(time.Since(began).Milliseconds()))
		s.release()
		<-ended
		d.stop()
	}
	m.report(b)
}

// TestKillDuringLongCheck: what was stored of a check that is killed stays, was
// notified at once and is not notified again; the batch that is pending for it
// comes with the next check.
func TestKillDuringLongCheck(t *testing.T) {
	t.Parallel()
	s := newStuck(t)
	in := s.install()
	d := in.start()
	s.check(d)
	eventually(t, "what was found is notified", func() bool {
		n, _ := s.notifications("simple")
		return n == s.responding()
	})
	d.settled()
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done
	if n, _ := s.notifications("batch"); n != 0 {
		t.Errorf("a batch of %d before the end of a check", n)
	}

	d = in.start()
	s.release()
	for _, c := range d.containers() {
		if !s.hangs(c) && !current(c) {
			t.Errorf("%s after the kill: %+v", c.Name, c.Check)
		}
	}
	for range 2 {
		<-s.check(d)
	}
	d.settled()
	for _, trigger := range []string{"simple", "batch"} {
		if n, most := s.notifications(trigger); n != s.responding() || most != 1 {
			t.Errorf("%s was notified of %d containers, %d times of one", trigger, n, most)
		}
	}
	d.stop()
}

// progress returns what the stream of events sends of the progress of checks.
func (d *daemon) progress() <-chan string { return d.stream("check.progress") }

// stream returns the data of the events of a type that the stream sends.
func (d *daemon) stream(typ string) <-chan string {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+"/api/events", nil)
	must(d.t, err)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	must(d.t, err)
	sent := make(chan string, 100)
	go func() {
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for of := ""; lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				of = value
			case name == "data" && of == typ:
				sent <- value
			}
		}
	}()
	return sent
}
