package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/reload"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

const (
	labSecret   = "the-secret-of-the-lab"
	ghcrSecret  = "the-secret-of-ghcr"
	otherSecret = "another-secret-of-the-lab"
)

// TestWebhooksAreReloaded: webhooks are added, changed and removed while the program
// runs; one whose secret is too short changes nothing, and no secret is shown or logged.
func TestWebhooksAreReloaded(t *testing.T) {
	t.Parallel()
	r := newReloading(t, 1)
	image := fmt.Sprintf(`{"image":"%s/%s"}`, r.hosts[0], r.repo(0))
	deliver := func(hook, secret string, want int) {
		t.Helper()
		if status, said := r.as("Authorization: Bearer "+secret, http.MethodPost, "/api/webhooks/"+hook,
			image); status != want {
			t.Errorf("%s with %q: %d, want %d: %s", hook, secret, status, want, said)
		}
	}
	deliver("lab", labSecret, http.StatusUnauthorized)
	for _, step := range []struct {
		about, secrets string
		// lab, other and ghcr are the responses to the secrets of the same names.
		lab, other, ghcr int
	}{
		{"added", "lab=" + labSecret, 202, 401, 401},
		{"another added", "lab=" + labSecret + ",ghcr=" + ghcrSecret, 202, 401, 202},
		{"changed", "lab=" + otherSecret + ",ghcr=" + ghcrSecret, 401, 202, 202},
		{"removed", "ghcr=" + ghcrSecret, 401, 401, 202},
		{"all removed", "", 401, 401, 401},
	} {
		r.write(r.trigger("first"), "webhooks.secrets: \""+step.secrets+"\"")
		if shown := fmt.Sprint(get[any](r.daemon, http.MethodGet, "/api/reload")); strings.Contains(shown, labSecret) ||
			strings.Contains(shown, ghcrSecret) || strings.Contains(shown, otherSecret) {
			t.Errorf("%s: the preview has a secret: %s", step.about, shown)
		}
		if done := get[reload.Result](r.daemon, http.MethodPost, "/api/reload"); !done.Applied || len(done.Differences) != 1 {
			t.Fatalf("%s: %+v", step.about, done)
		} else if done.Restart {
			r.listens()
		}
		deliver("lab", labSecret, step.lab)
		deliver("lab", otherSecret, step.other)
		deliver("ghcr", ghcrSecret, step.ghcr)
	}

	r.write(r.trigger("first"), "webhooks.secrets: lab=short")
	if status, said := r.as("", http.MethodPost, "/api/reload", ""); status != http.StatusUnprocessableEntity ||
		!strings.Contains(said, "the secret of lab is shorter than 12 characters") {
		t.Errorf("a short secret: %d %s", status, said)
	}
	deliver("lab", "short", http.StatusUnauthorized)
	events := fmt.Sprint(get[any](r.daemon, http.MethodGet, "/api/events?limit=100"))
	r.stop()
	for _, secret := range []string{labSecret, ghcrSecret, otherSecret} {
		if strings.Contains(events, secret) || strings.Contains(r.log.String(), secret) {
			t.Errorf("an event or the log has %s", secret)
		}
	}
}

// TestWebhookSecretStandsForALogin: where logins are configured a webhook wants its secret
// and no more, the secret serves nothing else, and a login does not replace it.
func TestWebhookSecretStandsForALogin(t *testing.T) {
	t.Parallel()
	const password = "a-password-of-the-test"
	f := newFleet(t, 1, registrysim.Options{})
	d := install(t, append(f.env(), "DOGWATCH_WEBHOOKS_SECRETS=lab="+labSecret+",ghcr="+ghcrSecret,
		"DOGWATCH_AUTH_BASIC_ANA_USER=ana", "DOGWATCH_AUTH_BASIC_ANA_HASH="+password)...).start()
	ana := basicOf("ana", password)
	eventually(t, "the container is known", func() bool {
		_, said := d.as(ana, http.MethodGet, "/api/containers", "")
		return strings.Contains(said, `"up`)
	})
	secret, image := "Authorization: Bearer "+labSecret, fmt.Sprintf(`{"image":"%s/%s"}`, f.hosts[0], f.repo(0))
	for _, test := range []struct {
		about, header, method, path, body string
		want                              int
	}{
		{"the secret", secret, "POST", "/api/webhooks/lab", image, 202},
		{"the secret, for CI", secret, "POST", "/api/webhooks/lab/check", image, 200},
		{"nothing", "", "POST", "/api/webhooks/lab", image, 401},
		{"the secret of another webhook", "Authorization: Bearer " + ghcrSecret, "POST", "/api/webhooks/lab", image, 401},
		{"a login", ana, "POST", "/api/webhooks/lab", image, 401},
		{"a session", sessionOf(t, d, ana), "POST", "/api/webhooks/lab", image, 401},
		{"a token", d.tokenOf(ana, "write"), "POST", "/api/webhooks/lab", image, 401},
		{"the deliveries, with the secret", secret, "GET", "/api/webhooks", "", 401},
		{"the deliveries, with a login", ana, "GET", "/api/webhooks", "", 200},
		{"containers, with the secret", secret, "GET", "/api/containers", "", 401},
		{"a check of all, with the secret", secret, "POST", "/api/containers/watch", "", 401},
		{"the page, without a login", "", "GET", "/api/reload", "", 401},
	} {
		if status, said := d.as(test.header, test.method, test.path, test.body); status != test.want ||
			strings.Contains(said, labSecret) {
			t.Errorf("%s: %d, want %d: %s", test.about, status, test.want, said)
		}
	}
	var statuses []int
	for range 40 {
		status, _ := d.as("Authorization: Bearer a-guess", http.MethodPost, "/api/webhooks/lab", image)
		statuses = append(statuses, status)
	}
	if last := statuses[len(statuses)-1]; statuses[0] != 401 || last != 429 {
		t.Errorf("guesses are answered with %v", statuses)
	}
	// Guesses at secrets of webhooks lock no user out of the pages.
	if status, _ := d.as(ana, http.MethodGet, "/api/containers", ""); status != http.StatusOK {
		t.Errorf("a login after the guesses: %d", status)
	}
	d.stop()
	if strings.Contains(d.log.String(), labSecret) {
		t.Error("the log has the secret")
	}
}
