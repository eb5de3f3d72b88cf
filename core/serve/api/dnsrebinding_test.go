package api

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestForeignHostNamesAreRefused(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	w := start(t,
		[]string{"DOGWATCH_SERVER_ALLOWEDHOSTS=dog.example.org,192.0.2.7",
			"DOGWATCH_PUBLIC_URL=https://watch.example.com:8443/x"})
	any := start(t, []string{"DOGWATCH_SERVER_ALLOWEDHOSTS=*"})
	for host, welcome := range map[string]bool{
		"localhost": true, "localhost:3000": true, "LOCALHOST.": true, "app.localhost": true, "127.0.0.1": true,
		"127.0.0.1:3000": true, "192.168.1.5:80": true,
		"[::1]": true, "[::1]:3000": true, "[fe80::1%25eth0]:3000": true, "nas": true, "dogwatch:3000": true,
		"nas.local": true, "nas.lan:3000": true,
		"nas.home.arpa": true, "host.docker.internal": true, own: true, "dog.example.org": true,
		"DOG.example.org:3000": true, "dog.example.org.": true,
		"watch.example.com": true, "watch.example.com:1": true,
		"evil.example.org": false, "dog.example.org.evil.com": false, "evil.com:3000": false, "local.evil.com": false,
		"127.0.0.1.nip.io": false,
		"notlocal":         true, "xlocal.com": false, "example.org": false, "sub.dog.example.org": false,
		"localhost.evil.com": false, "1.2.3.4.5": false,
	} {
		status := http.StatusOK
		if !welcome {
			status = http.StatusMisdirectedRequest
		}
		if got := w.get("/api/containers", "Host", host); got.status != status {
			t.Errorf("host %s: status %d, want %d", host, got.status, status)
		}
		if got := w.do("POST", "/api/containers/watch", "", "Host", host); got.status != status {
			t.Errorf("POST, host %s: status %d, want %d", host, got.status, status)
		}
		any.get("/api/containers", "Host", host).want(200)
		// Health checks use whatever name they know.
		w.get("/health", "Host", host).want(200)
		w.get("/API/Health/", "Host", host).want(200)
	}
	w.get("/api/containers", "Host", "evil.com").fails(421, "evil.com", "server.allowedhosts", "public.url")
	w.get("/health/../api/containers", "Host", "evil.com").fails(421)
}

// TestForeignHostNamesGetPageAndLog: browsers get a page with the remedy, and the log a line, at a limited rate.
func TestForeignHostNamesGetPageAndLog(t *testing.T) {
	w := startWithLogin(t, nil, func(o *testOptions) { o.Pages = formPages{} })
	checked := w.client
	w.client = http.DefaultClient // the page is not in the document
	const html = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, path := range []string{"/", "/containers", "/login", "/nowhere"} {
		got := w.get(path, "Host", "dog.example.org:8443", "Accept", html).want(421)
		page := string(got.body)
		for _, part := range []string{"<strong>dog.example.org</strong>", "DOGWATCH_PUBLIC_URL=https://dog.example.org",
			"DOGWATCH_SERVER_ALLOWEDHOSTS=dog.example.org"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page at %s lacks %s", path, part)
			}
		}
		if h := got.header; !strings.HasPrefix(h.Get("Content-Type"), "text/html") ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || strings.Contains(page, w.opt.Version) {
			t.Errorf("%s: %v", path, h)
		}
	}
	w.client = checked
	for _, got := range []response{
		w.get("/", "Host", "dog.example.org"), w.get("/api/containers", "Host", "dog.example.org", "Accept", html),
		w.get("/containers", "Host", "dog.example.org", "Accept", "application/json"),
	} {
		got.fails(421, "dog.example.org", "server.allowedhosts", "public.url")
	}
	w.client = http.DefaultClient
	evil := string(w.get("/", "Host", "<script>alert(1)</script>.example.org", "Accept", html).body)
	if strings.Contains(evil, "<script>") {
		t.Errorf("the page has the name as it came: %s", evil)
	}
	for range 50 {
		w.get("/", "Host", "evil.example.com").want(421)
	}
	log := w.log.String()
	if n := strings.Count(log, "server.allowedhosts"); n != 1 || !strings.Contains(log, "dog.example.org") ||
		!strings.Contains(log, "127.0.0.1") {
		t.Errorf("the log has %d lines about it: %s", n, log)
	}
}
