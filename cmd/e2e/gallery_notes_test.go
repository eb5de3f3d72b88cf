package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// galleryNotes is a host with the releases of containers of the gallery. It returns the
// configuration that reads them, and the labels that lead to them, by container.
func galleryNotes(t testing.TB) (env []string, sources map[string]string) {
	t.Helper()
	releases := map[string][]map[string]any{}
	add := func(repo, tag, body string) {
		releases[repo] = append(releases[repo], map[string]any{
			"tag_name": tag, "name": tag, "published_at": "2026-10-21T10:00:00Z", "body": body,
		})
	}
	add("calm", "v4.1.0",
		"## Breaking changes\n\n- The API of version 2 was **removed**: use `/api/v3`.\n\n## Before upgrading\n\n- You must run `sonarr --migrate` once.\n\n## New\n\n1. Faster lists, [see here](https://example.org/faster)\n2. A table:\n\n| Setting | Was | Is |\n|---|---|---|\n| `threads` | 1 | 4 |\n\n> Thanks to all who helped.\n\n```yaml\nthreads: 4\n```\n")
	add("calm", "v4.0.10", "- A file that was open is no longer read twice.")
	add("calm", "v4.0.9", "")
	hostile := "# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)> ![x](https://tracker.example/p.gif) [click](javascript:alert(1)) <style>*{display:none}</style>\n\n" +
		"# " + strings.Repeat("a-heading-without-a-space", 20) + "\n\n" + strings.Repeat("| wide ", 40) + "|\n" +
		strings.Repeat("|--", 40) + "|\n" + strings.Repeat("| "+strings.Repeat("x", 60)+" ", 40) + "|\n\n```\n" +
		strings.Repeat("code ", 200) + "\n```\n\n" +
		strings.Repeat("> ", 40) + "deep\n\n" +
		strings.Repeat("https://example.org/"+strings.Repeat("path", 60)+"\n\n", 3) + "BREAKING: " +
		strings.Repeat("w", 400) + "\n"
	for _, tag := range []string{"2024.11.2", "2024.11.1"} {
		add("long", tag, hostile+strings.Repeat("- one more line of very long notes\n", 400))
	}
	for i := range 58 {
		add("long", fmt.Sprintf("2024.10.%d", 58-i), strings.Repeat("- one more line of very long notes\n", 400))
	}
	add("long", "2024.9.3", "")
	env, at := notesHost(t, releases)
	return env, map[string]string{"sonarr": at + "/team/calm", "home-assistant": at + "/team/long"}
}

// notesHost is a Gitea that has the releases of repositories of a team. It returns the
// configuration that reads them, and its address.
func notesHost(t testing.TB, releases map[string][]map[string]any) (env []string, address string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/")
		if len(parts) < 7 {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(releases[parts[5]])
	}))
	t.Cleanup(server.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	must(t,
		os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	env = []string{"SSL_CERT_FILE=" + roots, "DOGWATCH_NOTES_ALLOW=" + server.Listener.Addr().String() + "=gitea"}
	return env, server.URL
}
