package e2e

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secret is a value that no page may show.
const secret = "hunter2-is-secret"

// addresses of a page: where its links and forms lead.
var (
	links = regexp.MustCompile(`(?:href|action)="(/[^"#]*)`)
	forms = regexp.MustCompile(`method="post" action="([^"]*)"`)
)

// TestCrawlFindsNoBrokenLink follows every link from the overview on, as
// a user without script does, and then tries every component.
func TestCrawlFindsNoBrokenLink(t *testing.T) {
	t.Parallel()
	l := startLab(t, 3, "DOGWATCH_TRIGGER_HTTP_CLOSED_URL=http://127.0.0.1:1/",
		"DOGWATCH_TRIGGER_HTTP_CLOSED_AUTH_TYPE=BASIC",
		"DOGWATCH_TRIGGER_HTTP_CLOSED_AUTH_USER=ana", "DOGWATCH_TRIGGER_HTTP_CLOSED_AUTH_PASSWORD="+secret,
		"DOGWATCH_TRIGGER_NTFY_WRONG_TOPIK=typo", "DOGWATCH_REGISTRY_CUSTOM_LAN_URL=http://127.0.0.1:1",
		"DOGWATCH_PUBLIC_URL=http://ana:"+secret+"@localhost")
	seen, next, posts := map[string]bool{"/": true}, []string{"/"}, map[string]bool{}
	read := func(method, path string) string {
		status, body := l.request(method, path, "")
		// The registry of the lab has no configurations of images to compare.
		failing := path == "/api/ready" || strings.HasSuffix(path, "/diff") && status == http.StatusBadGateway
		if status != http.StatusOK && !failing {
			t.Errorf("%s %s: status %d", method, path, status)
		}
		if strings.Contains(string(body), secret) {
			t.Errorf("%s %s shows a secret", method, path)
		}
		for _, bad := range []string{"undefined", "&lt;nil&gt;", "&lt;no value&gt;", "0001-01-01", "%!"} {
			if strings.HasPrefix(string(body), "<!doctype html>") && strings.Contains(string(body), bad) {
				t.Errorf("%s %s has %q in it", method, path, bad)
			}
		}
		return string(body)
	}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		body := read(http.MethodGet, path)
		for _, form := range forms.FindAllStringSubmatch(body, -1) {
			posts[html.UnescapeString(form[1])] = true
		}
		for _, link := range links.FindAllStringSubmatch(body, -1) {
			to := html.UnescapeString(link[1])
			u, err := url.Parse(to)
			must(t, err)
			if seen[to] || posts[to] || len(u.Query()) > 1 || strings.Contains(u.RawQuery, "before") {
				continue
			}
			seen[to] = true
			next = append(next, to)
		}
	}
	for _, page := range []string{"/watchers", "/registries", "/triggers", "/plugins", "/history", "/deliveries",
		"/settings", "/log", "/settings/api", "/triggers/http/closed", "/triggers/ntfy/wrong", "/history.csv"} {
		if !seen[page] {
			t.Errorf("no link leads to %s", page)
		}
	}
	paths := []string{}
	for path := range posts {
		// The public registries are not asked: tests only talk to this machine.
		if strings.HasSuffix(path, "/test") && !strings.Contains(path, "/public/") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	if len(paths) < 4 {
		t.Errorf("few forms: %q", paths)
	}
	for _, path := range paths {
		body := read(http.MethodPost, path)
		if path == "/triggers/http/closed/test" && !strings.Contains(body, "The other side does not answer") {
			t.Errorf("%s does not say what to do", path)
		}
	}
}
