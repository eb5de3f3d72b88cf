package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func healthServer(t *testing.T, secure bool) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("alive")) })
	mux.Handle("GET /moved", http.RedirectHandler("/health", http.StatusFound))
	mux.HandleFunc("GET /slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL
}

func TestCurl(t *testing.T) {
	plain, secure := healthServer(t, false), healthServer(t, true)
	bare := strings.TrimPrefix(plain, "http://")
	for name, c := range map[string]struct {
		args           string
		code           int
		stdout, stderr string
	}{
		"body":               {plain + "/health", 0, "alive", ""},
		"without scheme":     {bare + "/health", 0, "alive", ""},
		"long option":        {"--fail " + plain + "/health", 0, "alive", ""},
		"grouped options":    {"-fsSL " + plain + "/moved", 0, "alive", ""},
		"not followed":       {"-f " + plain + "/moved", 0, `<a href="/health">Found</a>.` + "\n\n", ""},
		"missing, no --fail": {plain + "/nowhere", 0, "404 page not found\n", ""},
		"missing":            {"-f " + plain + "/nowhere", 22, "", "curl: (22) the requested URL returned error: 404\n"},
		"unavailable":        {"--fail " + plain + "/broken", 22, "", "curl: (22) the requested URL returned error: 503\n"},
		"silent":             {"-fs " + plain + "/broken", 22, "", ""},
		"silent but errors":  {"-fsS " + plain + "/broken", 22, "", "curl: (22) the requested URL returned error: 503\n"},
		"unreachable":        {"http://127.0.0.1:1/", 7, "", "curl: (7) connect to 127.0.0.1:1: connection refused\n"},
		"too slow":           {"-m 0.05 " + plain + "/slow", 28, "", "curl: (28) no answer in time\n"},
		"unknown certificate": {secure + "/health", 60, "",
			"curl: (60) tls: failed to verify certificate: x509: certificate signed by unknown authority\n"},
		"any certificate":  {"-k " + secure + "/health", 0, "alive", ""},
		"any certificate2": {"--insecure " + secure + "/health", 0, "alive", ""},
		"discarded":        {"-o " + os.DevNull + " " + plain + "/health", 0, "", ""},
		"joined value":     {"-o" + os.DevNull + " " + plain + "/health", 0, "", ""},
		"equals":           {"--output=" + os.DevNull + " " + plain + "/health", 0, "", ""},
		"GET by name":      {"-X GET " + plain + "/health", 0, "alive", ""},
		"POST": {"-X POST " + plain + "/health", 2, "",
			"curl: (2) this stand-in for curl only reads: no POST requests\n"},
		"unknown option": {"--upload-file x " + plain, 2, "",
			"curl: (2) option --upload-file is not one this stand-in for curl knows\n"},
		"unknown letter": {"-fT x", 2, "", "curl: (2) option -T is not one this stand-in for curl knows\n"},
		"value missing":  {"-o", 2, "", "curl: (2) option -o needs a value\n"},
		"bad number": {"--max-time soon " + plain, 2, "",
			"curl: (2) --max-time wants a number of seconds, not \"soon\"\n"},
		"two addresses": {plain + " " + plain, 2, "",
			"curl: (2) only one address can be asked, not also \"" + plain + "\"\n"},
		"no address":     {"-f", 2, "", "curl: (2) no address given\n"},
		"another scheme": {"file:///etc/passwd", 3, "", "curl: (3) \"file:///etc/passwd\" is not an http or https address\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := curl(t.Context(), strings.Fields(c.args), &stdout, &stderr)
			if code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
			}
		})
	}
}

func TestCurlHead(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := curl(t.Context(), []string{"-I", healthServer(t, false) + "/health"}, &stdout, &stderr); code != 0 ||
		!strings.HasPrefix(stdout.String(), "HTTP/1.1 200 OK\r\n") {
		t.Errorf("exit code %d: %q %q", code, stdout.String(), stderr.String())
	}
}

func TestCurlWritesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	code := curl(t.Context(), []string{"-o", file, healthServer(t, false) + "/health"}, &stdout, &stderr)
	if got, err := os.ReadFile(file); code != 0 || err != nil || string(got) != "alive" {
		t.Errorf("exit code %d: %q %v", code, got, err)
	}
}

func TestCurlInShellForm(t *testing.T) {
	url := healthServer(t, false)
	t.Setenv("TEST_ADDRESS", url)
	for name, c := range map[string]struct {
		script string
		code   int
	}{
		"as in WUD's documentation": {"curl --fail " + url + "/health || exit 1", 0},
		"which fails":               {"curl --fail " + url + "/broken || exit 1", 1},
		"with another code":         {"curl -f " + url + "/broken || exit 3", 3},
		"without alternative":       {"curl -f " + url + "/broken", 22},
		"variable":                  {"curl -f ${TEST_ADDRESS}/health || exit 1", 0},
		"default of a variable":     {"curl -f ${TEST_NOWHERE:-" + url + "}/health || exit 1", 0},
		"quoted":                    {`curl --fail "` + url + `/health" || exit 1`, 0},
		"by its path":               {"/usr/bin/curl --fail " + url + "/health || exit 1", 0},
		"our own":                   {"dogwatch version", 0},
		"anything else":             {"ls /", 127},
		"a pipe":                    {"curl " + url + " | grep alive", 127},
		"a list":                    {"curl " + url + "; true", 127},
		"a substitution":            {"curl $(echo x)", 127},
		"another alternative":       {"curl " + url + "/broken || true", 127},
		"nothing":                   {"", 127},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := shell(t.Context(), []string{"-c", c.script}, &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d: %q", code, c.code, stderr.String())
			}
		})
	}
	var stdout, stderr bytes.Buffer
	if code := shell(t.Context(), nil, &stdout, &stderr); code != shellNotFound ||
		!strings.Contains(stderr.String(), "no shell") {
		t.Errorf("exit code %d: %q", code, stderr.String())
	}
}

func TestCurlReplacesExecutable(t *testing.T) {
	for name, want := range map[string]bool{
		"/usr/bin/curl": true, "curl": true, "/bin/sh": true, "/dogwatch": false, "dogwatch": false, "": false,
	} {
		if _, is := standIn(name); is != want {
			t.Errorf("%q: %v", name, is)
		}
	}
}
