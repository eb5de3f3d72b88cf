package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk"
)

const secret = "the-secret-of-the-hook"

// bench is a Receiver with some containers, and the checks that it had made.
type bench struct {
	*Receiver
	mu      sync.Mutex
	checked []string
	failure error
	log     bytes.Buffer
	// during is called in each check.
	during func()
	// kept is the Store, whose writes fail with full.
	kept map[Image]bool
	full error
}

func running(watcher, id, host, name string) sdk.Container {
	c := sdk.Container{ID: id, Name: id, Watcher: watcher}
	c.Image.Registry.Host, c.Image.Name, c.Image.Tag.Value = host, name, "1.0"
	return c
}

// receive runs test with a running Receiver, in a bubble with its own time.
func receive(t *testing.T, hooks []Hook, containers []sdk.Container, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{kept: map[Image]bool{}}
		b.Receiver = New(Options{
			Hooks: hooks, Containers: func() []sdk.Container { return slices.Clone(containers) }, Now: time.Now,
			Store: b, Log: hclog.New(&hclog.LoggerOptions{Output: &b.log, Level: hclog.Trace}),
			Check: func(_ context.Context, watcher string, ids []string) error {
				slices.Sort(ids)
				b.mu.Lock()
				during := b.during
				b.mu.Unlock()
				if during != nil {
					during()
				}
				b.mu.Lock()
				defer b.mu.Unlock()
				b.checked = append(b.checked, watcher+": "+strings.Join(ids, " "))
				return b.failure
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.Run(ctx) }()
		test(b)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func with(header http.Header, name, value string) http.Header {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set(name, value)
	return header
}

func signature(body []byte) string {
	sign := hmac.New(sha256.New, []byte(secret))
	sign.Write(body)
	return hex.EncodeToString(sign.Sum(nil))
}

// TestOneCheckOfOneRepository: each sender's delivery, with the secret as that sender
// can give it, leads to one check of the containers of its repository, and to no other.
func TestOneCheckOfOneRepository(t *testing.T) {
	for name, test := range map[string]struct {
		host, image, header, value string
	}{
		"dockerhub":    {"docker.io", "svendowideit/testhook", "", ""},
		"ghcr":         {"ghcr.io", "codertocat/hello-world-docker", "X-Hub-Signature-256", "sha256=%s"},
		"harbor":       {"hub.harbor.com", "test-webhook/debian", "Authorization", secret},
		"quay":         {"quay.io", "mynamespace/repository", "", ""},
		"gitlab":       {"registry.gitlab.com", "gitlab-org/gitlab-test", "X-Gitlab-Token", secret},
		"gitlab-own":   {"registry.lan:5050", "gitlab-org/gitlab-test", "X-Gitlab-Token", secret},
		"gitea":        {"git.example.org:3000", "sysadmin/app", "X-Gitea-Signature", "%s"},
		"forgejo":      {"codeberg.org", "me/tools/app", "X-Forgejo-Signature", "%s"},
		"acr":          {"myregistry.azurecr.io", "hello-world", "Authorization", "Bearer " + secret},
		"eventgrid":    {"demo.azurecr.io", "aci-helloworld", "Authorization", "Bearer " + secret},
		"distribution": {"registrycluster.local", "library/test", "Authorization", "Bearer " + secret},
		"plain":        {"ghcr.io", "owner/name", "Authorization", "Bearer " + secret},
	} {
		t.Run(name, func(t *testing.T) {
			containers := []sdk.Container{
				running("local", "own", test.host, test.image), running("local", "twin", test.host, test.image),
				running("nas", "far", test.host, test.image),
				running("local", "longer", test.host, test.image+"x"),
				running("local", "elsewhere", "other.example", test.image+"/x/y/z"),
			}
			hooks := []Hook{{Name: "hook", Secret: secret, URLToken: test.header == ""}}
			if name == "gitlab-own" {
				hooks[0].Host = test.host // which GitLab does not say
			}
			receive(t, hooks, containers, func(b *bench) {
				header, body := delivery(t, name)
				token := secret
				if test.header != "" {
					value := test.value
					if strings.Contains(value, "%s") {
						value = fmt.Sprintf(value, signature(body))
					}
					header, token = with(header, test.header, value), ""
				}
				receipt, err := b.Receive("hook", header, token, body)
				if err != nil || receipt.State != Waiting ||
					!slices.Equal(receipt.Containers, []string{"local/own", "local/twin", "nas/far"}) {
					t.Errorf("%+v, %v", receipt, err)
					return
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				slices.Sort(b.checked)
				if !slices.Equal(b.checked, []string{"local: own twin", "nas: far"}) {
					t.Errorf("checks: %q", b.checked)
				}
				if got := b.Hooks()[0].Recent[0]; got.State != Checked {
					t.Errorf("afterwards: %+v", got)
				}
				if header.Get("X-GitHub-Delivery") != "" {
					header.Set("X-GitHub-Delivery", "another") // which the signature does not cover
				}
				again, err := b.Receive("HOOK", header, token, body) // replayed
				time.Sleep(2 * time.Second)
				if err != nil || again.State != Duplicate || len(b.checked) != 2 {
					t.Errorf("the same again: %+v, %v, %q", again, err, b.checked)
				}
				time.Sleep(replayWindow)
				if later, err := b.Receive("hook", header, token, body); err != nil || later.State != Waiting {
					t.Errorf("much later: %+v, %v", later, err)
				}
				if strings.Contains(b.log.String(), secret) || strings.Contains(fmt.Sprint(b.Hooks()), secret) {
					t.Errorf("the secret is in the log or the list:\n%s", b.log.String())
				}
			})
		})
	}
}

func TestForgedDeliveries(t *testing.T) {
	_, body := delivery(t, "plain")
	receive(t, []Hook{{Name: "hook", Secret: secret}},
		[]sdk.Container{running("local", "own", "ghcr.io", "owner/name")}, func(b *bench) {
			for name, header := range map[string]http.Header{
				"nothing":                   {},
				"another secret":            with(nil, "Authorization", "Bearer the-secret-of-another"),
				"a beginning":               with(nil, "Authorization", "Bearer "+secret[:10]),
				"a signature of another":    with(nil, "X-Hub-Signature-256", "sha256="+signature([]byte("{}"))),
				"no signature":              with(nil, "X-Hub-Signature-256", "sha256="),
				"the secret as a signature": with(nil, "X-Hub-Signature-256", "sha256="+secret),
			} {
				// the token counts for URLToken only
				if receipt, err := b.Receive("hook", header, secret, body); !errors.Is(err, ErrSecret) {
					t.Errorf("%s: %+v, %v", name, receipt, err)
				}
				if _, err := b.CheckNow(t.Context(), "hook", header, secret, body); !errors.Is(err, ErrSecret) {
					t.Errorf("%s: check %v", name, err)
				}
			}
			for range 2 {
				if _, err := b.Receive("other", with(nil, "Authorization", secret), "", body); !errors.Is(err, ErrSecret) {
					t.Errorf("another name: %v", err)
				}
			}
			if b.Counts()[Count{"", Refused}] != 2 {
				t.Errorf("counted: %v", b.Counts())
			}
			if _, err := b.Receive("hook", with(nil, "Authorization", secret), "", []byte("{")); !errors.Is(err, ErrMalformed) {
				t.Errorf("a broken body: %v", err)
			}
			time.Sleep(time.Minute)
			if len(b.checked) != 0 {
				t.Errorf("checks: %q", b.checked)
			}
			if recent := b.Hooks()[0].Recent; len(recent) != 2 {
				t.Errorf("%d deliveries are remembered, want a line of each reason: %+v", len(recent), recent)
			}
		})
}

// TestUnknownNamesCostAsMuch: the time that a response takes does not tell which webhooks there are.
func TestUnknownNamesCostAsMuch(t *testing.T) {
	r := New(Options{Hooks: []Hook{{Name: "ci", Secret: secret}}, Log: hclog.NewNullLogger(), Now: time.Now})
	body, guess := bytes.Repeat([]byte("a"), 1<<20), with(nil, "Authorization", "guess")
	least := func(name string) time.Duration {
		shortest := time.Hour
		for range 20 {
			began := time.Now()
			if _, err := r.Receive(name, guess, "", body); !errors.Is(err, ErrSecret) {
				t.Fatal(err)
			}
			shortest = min(shortest, time.Since(began))
		}
		return shortest
	}
	if known, unknown := least("ci"), least("other"); unknown < known/2 || known < unknown/2 {
		t.Errorf("a wrong secret takes %v, and an unknown name %v", known, unknown)
	}
}

func TestPushesAreCheckedTogether(t *testing.T) {
	containers := []sdk.Container{running("local", "a", "docker.io", "library/a"),
		running("local", "b", "docker.io", "library/b")}
	receive(t, []Hook{{Name: "hook", Secret: secret}}, containers, func(b *bench) {
		for i := range 10 {
			for _, image := range []string{"a", "b", "nobody-runs-this"} {
				body := fmt.Appendf(nil, `{"image":"%s","try":%d}`, image, i)
				receipt, err := b.Receive("hook", with(nil, "Authorization", secret), "", body)
				if state := map[bool]string{true: Ignored, false: Waiting}[len(image) > 1]; err != nil || receipt.State != state {
					t.Errorf("%s: %+v, %v", image, receipt, err)
				}
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.Equal(b.checked, []string{"local: a b"}) {
			t.Errorf("checks: %q", b.checked)
		}
	})
}

// TestSamePushAgainIsChecked: a sender whose deliveries are the same to the byte counts each time.
func TestSamePushAgainIsChecked(t *testing.T) {
	receive(t, []Hook{{Name: "hook", Secret: secret}}, []sdk.Container{running("local", "a", "docker.io", "library/a")},
		func(b *bench) {
			for range 3 {
				receipt, err := b.Receive("hook", with(nil, "Authorization", secret), "", []byte(`{"image":"a"}`))
				if err != nil || receipt.State != Waiting {
					t.Errorf("%+v, %v", receipt, err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			if len(b.checked) != 3 {
				t.Errorf("checks: %q", b.checked)
			}
		})
}

func TestFlood(t *testing.T) {
	var containers []sdk.Container
	for i := range 2 * maxWaiting {
		containers = append(containers, running("local", fmt.Sprintf("c%03d", i), "r.example", fmt.Sprintf("app%d", i)))
	}
	receive(t, []Hook{{Name: "hook", Secret: secret, Host: "r.example"}}, containers, func(b *bench) {
		b.failure = errors.New("the engine is away")
		taken := 0
		for i := range 2 * maxWaiting {
			_, err := b.Receive("hook", with(nil, "Authorization", secret), "",
				fmt.Appendf(nil, `{"image":"inside:5000/app%d"}`, i))
			if err != nil && !errors.Is(err, ErrBusy) {
				t.Fatal(err)
			}
			if err == nil {
				taken++
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if taken != maxWaiting || len(b.checked) != 1 || strings.Count(b.checked[0], "c") != maxWaiting+1 { // "local" has a c
			t.Errorf("%d were taken, checks: %q", taken, b.checked)
		}
		if got := b.Hooks()[0].Recent; len(got) > maxRecent || got[len(got)-1].State != Failed ||
			got[len(got)-1].Reason != "the engine is away" {
			t.Errorf("remembered: %+v", got)
		}
		if _, err := b.Receive("hook", with(nil, "Authorization", secret), "",
			[]byte(`{"image":"inside:5000/app100"}`)); err != nil {
			t.Errorf("after the flood: %v", err)
		}
		if n := b.Counts()[Count{"hook", Refused}]; n != maxWaiting {
			t.Errorf("%d are counted as refused", n)
		}
	})
}

func TestCheckNow(t *testing.T) {
	containers := []sdk.Container{running("local", "web", "ghcr.io", "owner/name"),
		running("nas", "web", "ghcr.io", "owner/other")}
	containers[0].UpdateAvailable, containers[0].UpdateKind.RemoteValue = true, "2.0"
	header := with(nil, "Authorization", "Bearer "+secret)
	receive(t, []Hook{{Name: "ci", Secret: secret}}, containers, func(b *bench) {
		for body, want := range map[string]string{
			`{"image":"ghcr.io/owner/name:2.0"}`: "local/web",
			`{"container":"WEB"}`:                "local/web nas/web",
			`{"container":"nas/web"}`:            "nas/web",
			`{"container":"none"}`:               "",
		} {
			results, err := b.CheckNow(t.Context(), "ci", header, "", []byte(body))
			var got []string
			for _, r := range results {
				got = append(got, r.Container)
				if r.Container == "local/web" && (!r.UpdateAvailable || r.Offered != "2.0" || r.Image != "ghcr.io/owner/name:1.0") {
					t.Errorf("%+v", r)
				}
			}
			if strings.Join(got, " ") != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", body, got, err, want)
			}
		}
		for _, body := range []string{"", "{}", `{"image":"a","container":"b"}`, `{"image":"?"}`, "[]"} {
			if _, err := b.CheckNow(t.Context(), "ci", header, "", []byte(body)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %v", body, err)
			}
		}
		b.failure = errors.New("the engine is away")
		if _, err := b.CheckNow(t.Context(), "ci", header, "", []byte(`{"container":"web"}`)); err == nil ||
			!strings.Contains(err.Error(), "the engine is away") {
			t.Errorf("a failed check: %v", err)
		}
	})
}
