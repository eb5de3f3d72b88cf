package e2e

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/sdk"
)

// linkBy returns the path of a link to skip an update, made by the Dogwatch of a store
// some time ago.
func linkBy(t *testing.T, folder string, ago time.Duration) string {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(folder, "dogwatch.db"), store.Options{})
	must(t, err)
	defer s.Close()
	links, err := signedlink.New(t.Context(), signedlink.Options{
		URL: &url.URL{Scheme: "https", Host: "dog.example.org"}, Store: s, Expiry: 7 * 24 * time.Hour,
		Now: func() time.Time { return time.Now().Add(-ago) },
	})
	must(t, err)
	c := sdk.Container{ID: "c1", Watcher: "local", Name: "web", UpdateAvailable: true, Result: &sdk.Result{Tag: "1.1.0"},
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "1.0.0", RemoteValue: "1.1.0"}}
	for _, a := range links.For("ntfy.main", &c) {
		if path, ok := strings.CutPrefix(a.URL, "https://dog.example.org"); ok && a.Label == "Skip" {
			return path
		}
	}
	t.Fatal("there is no link to skip the update")
	return ""
}

// TestLinksThatAreOfNoUse opens links that are not good, as readers and scanners do.
// Each says why, and decides nothing.
func TestLinksThatAreOfNoUse(t *testing.T) {
	t.Parallel()
	in := install(t, "DOGWATCH_PUBLIC_URL=https://dog.example.org", "DOGWATCH_STORE_FILE=dogwatch.db")
	good := linkBy(t, in.store, time.Hour)
	expired, foreign := linkBy(t, in.store, 8*24*time.Hour), linkBy(t, t.TempDir(), time.Hour)
	other := byte('A')
	if good[40] == other {
		other = 'B'
	}
	d := in.start()
	for what, c := range map[string]struct {
		path   string
		status int
		want   string
	}{
		"expired":                     {expired, http.StatusGone, "This link has expired"},
		"of another Dogwatch":         {foreign, http.StatusNotFound, "This link is not valid"},
		"forged":                      {good[:40] + string(other) + good[41:], http.StatusNotFound, "This link is not valid"},
		"cut off":                     {good[:len(good)-10], http.StatusNotFound, "This link is not valid"},
		"of a container that is gone": {good, http.StatusGone, "no longer sees this container"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			status, body := d.request(method, c.path, "")
			if status != c.status || method != http.MethodHead && !strings.Contains(string(body), c.want) ||
				strings.Contains(string(body), "<form") {
				t.Errorf("%s, %s: %d, want %d and %q\n%s", what, method, status, c.status, c.want, body)
			}
		}
	}
	if _, body := d.request(http.MethodGet, "/api/choices", ""); strings.TrimSpace(string(body)) != "[]" {
		t.Errorf("a link that is not good decided: %s", body)
	}
	d.stop()
}
