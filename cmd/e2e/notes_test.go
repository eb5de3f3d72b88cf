package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// TestNotesInMessage delivers the release notes of an update, as a template asks for them, and
// the message of another trigger without a request to their host.
func TestNotesInMessage(t *testing.T) {
	t.Parallel()
	env, sources := galleryNotes(t)
	messages := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- string(body)
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(hook.Close)
	f := newFleet(t, 0, registrysim.Options{})
	f.registries[0].Push("team/sonarr", "4.0.9")
	f.registries[0].Push("team/sonarr", "4.1.0")
	f.run(t, "sonarr", 0, "team/sonarr", "4.0.9", "", map[string]string{
		"org.opencontainers.image.source": sources["sonarr"],
	})
	d := install(t, append(append(f.env(), env...), "DOGWATCH_REGISTRY_HUB_PUBLIC_MIRROR=http://"+f.hosts[0],
		"DOGWATCH_TRIGGER_NTFY_PHONE_URL="+hook.URL, "DOGWATCH_TRIGGER_NTFY_PHONE_TOPIC=x",
		"DOGWATCH_TRIGGER_NTFY_PHONE_BACKLOG=each",
		"DOGWATCH_TRIGGER_NTFY_PHONE_SIMPLEBODY=${name}\n${notes}")...).start()
	defer d.stop()
	message := <-messages
	for _, want := range []string{"sonarr\\nBreaking (v4.1.0): The API of version 2 was removed: use /api/v3.",
		"To do (v4.1.0): You must run sonarr --migrate once.", "v4.1.0 (21 Oct 2026)", "v4.0.10"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message lacks %q:\n%s", want, message)
		}
	}
	status, notes := d.request(http.MethodGet, "/api/containers/"+d.containers()[0].ID+"/notes", "")
	if status != http.StatusOK || !strings.Contains(string(notes), "The API of version 2 was **removed**") ||
		!strings.Contains(string(notes), `"version":"v4.0.10"`) || strings.Contains(string(notes), `"version":"v4.0.9"`) {
		t.Errorf("the API answers %d: %s", status, notes)
	}
}
