package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// published is what a message to ntfy has of its update and of its buttons.
type published struct {
	Title   string
	Actions []struct{ Label, URL string }
}

// linked returns the path of the button with a label, below the address of the pages.
func (p published) linked(t *testing.T, label string) string {
	t.Helper()
	for _, a := range p.Actions {
		if path, ok := strings.CutPrefix(a.URL, "https://dog.example.org"); a.Label == label && ok {
			return path
		}
	}
	t.Fatalf("no button %q leads to the pages: %+v", label, p)
	return ""
}

// ntfyServer keeps the messages that are published to it.
func ntfyServer(t *testing.T) (address string, messages func() []published) {
	t.Helper()
	var mu sync.Mutex
	var all []published
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m published
		if json.NewDecoder(r.Body).Decode(&m) == nil {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, m)
		}
		_, _ = io.WriteString(w, `{"id":"1"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []published {
		mu.Lock()
		defer mu.Unlock()
		return append([]published(nil), all...)
	}
}

// submit sends the form of a page, as the browser of a reader does.
func (d *daemon) submit(path string, form url.Values) (int, string) {
	d.t.Helper()
	resp, err := http.PostForm(d.url+path, form)
	must(d.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(d.t, err)
	return resp.StatusCode, string(body)
}

// TestLinksOfMessages decides with the buttons of messages, where everything else
// requires a login: a link shows, acts once, and is of no use after that, kill or not.
func TestLinksOfMessages(t *testing.T) {
	t.Parallel()
	address, messages := ntfyServer(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	must(t, err)
	f := newFleet(t, 2, registrysim.Options{})
	for i := range 2 {
		f.registry(i).Push(f.repo(i), "1.1.0")
	}
	in := install(t, append(f.env(), "DOGWATCH_TRIGGER_NTFY_MAIN_URL="+address,
		"DOGWATCH_TRIGGER_NTFY_MAIN_TOPIC=updates", "DOGWATCH_TRIGGER_NTFY_MAIN_BACKLOG=each",
		"DOGWATCH_PUBLIC_URL=https://dog.example.org/watch/", "DOGWATCH_SERVER_BASEPATH=/watch/",
		"DOGWATCH_AUTH_BASIC_ANA_USER=ana", "DOGWATCH_AUTH_BASIC_ANA_HASH="+string(hash))...)
	d := in.start()
	eventually(t, "messages about two updates", func() bool { return len(messages()) >= 2 })
	skip, snooze := messages()[0].linked(t, "Skip"), messages()[1].linked(t, "Snooze")
	choices := func() string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/watch/api/choices", nil)
		must(t, err)
		req.SetBasicAuth("ana", "right")
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if must(t, err); resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
		return string(body)
	}
	for range 3 { // scanners open links
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if status, body := d.request(method, skip, ""); status != http.StatusOK ||
				method == http.MethodGet && !strings.Contains(string(body), "Skip this version of") {
				t.Fatalf("%s: %d %s", method, status, body)
			}
		}
	}
	if got := choices(); got != "[]" {
		t.Errorf("looking at a link decided: %s", got)
	}
	if status, body := d.submit(skip, nil); status != http.StatusOK || !strings.Contains(body, "Skipped") {
		t.Fatalf("%d %s", status, body)
	}
	must(t, d.cmd.Process.Signal(syscall.SIGKILL))
	<-d.done
	d = in.start()
	if got := choices(); strings.Count(got, `"action":"skip"`) != 1 ||
		!strings.Contains(got, `"actor":"link of trigger ntfy.main"`) {
		t.Errorf("after the kill: %s", got)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if status, body := d.request(method, skip, ""); status != http.StatusGone ||
			!strings.Contains(string(body), "You already used this link") {
			t.Errorf("used again, %s: %d %s", method, status, body)
		}
	}
	if status, body := d.submit(snooze, url.Values{"days": {"3"}}); status != http.StatusOK ||
		!strings.Contains(body, "Snoozed") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := d.submit(snooze[:len(snooze)-1]+"_", nil); status != http.StatusNotFound {
		t.Errorf("a forged link: %d", status)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.Contains(d.log.String(), "dwl_") || !strings.Contains(d.log.String(), "decided with a link") {
		t.Error("the log has a link, or not that one was used")
	}
}
