package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config/logging"
)

// fail2banHost is what <ADDR> of fail2ban stands for, roughly.
const fail2banHost = `(?P<host>[0-9a-fA-F.:]+)`

// fail2banFilter returns the failregex of the documentation, which fail2ban
// applies to lines without their time.
func fail2banFilter(t *testing.T) []*regexp.Regexp {
	t.Helper()
	page := documentation(t)
	_, rest, found := strings.Cut(page, "failregex = ")
	if !found {
		t.Fatal("the page has no filter")
	}
	rest, _, _ = strings.Cut(rest, "\n\n")
	rest, _, _ = strings.Cut(rest, "```")
	var all []*regexp.Regexp
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "^") {
			all = append(all, regexp.MustCompile(strings.ReplaceAll(line, "<ADDR>", fail2banHost)))
		}
	}
	return all
}

// logged returns the lines of refused logins in a format of the log: of a user
// there is, of one there is not, and of throttled attempts.
func logged(t *testing.T, format string) []string {
	t.Helper()
	w := start(t, "WUD_AUTH_BASIC_MAIN_USER=ana b", "WUD_AUTH_BASIC_MAIN_HASH="+cheap)
	var text strings.Builder
	log, err := logging.New(logging.Options{Format: format, Output: &text})
	if err != nil {
		t.Fatal(err)
	}
	w.auth = New(Options{Config: w.config, Store: w.store, Log: log, Now: w.now})
	for i, address := range []string{"203.0.113.9:1", "[2001:db8::7]:1"} {
		for n := range 60 {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = address
			r.SetBasicAuth([]string{"ana b", "zoe"}[(n+i)%2], fmt.Sprint("guess ", n))
			_, _ = w.auth.Identify(httptest.NewRecorder(), r)
		}
		w.pass(time.Hour)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = address
		r.SetBasicAuth("ana b", fmt.Sprint("guess after an hour ", i))
		_, _ = w.auth.Identify(httptest.NewRecorder(), r)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	if len(lines) != 42 || !strings.Contains(text.String(), "attempts") {
		t.Fatalf("%d lines: %s", len(lines), text.String())
	}
	return lines
}

// timestamp is what fail2ban removes from a line before it matches the rest.
var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d:?\d\d)`)

// TestFail2banFilterReadsTheLog: the filter of the documentation finds the
// address in every line of a refused login, and in no line that only looks like one.
func TestFail2banFilterReadsTheLog(t *testing.T) {
	filter := fail2banFilter(t)
	if len(filter) != 2 {
		t.Fatalf("%d expressions", len(filter))
	}
	match := func(line string) string {
		line = timestamp.ReplaceAllString(line, "")
		for _, e := range filter {
			if m := e.FindStringSubmatch(line); m != nil {
				return m[e.SubexpIndex("host")]
			}
		}
		return ""
	}
	docker := func(line string) string { // the log files of Docker
		text, err := json.Marshal(map[string]string{"log": line + "\n", "stream": "stderr", "time": "2026-01-02T03:04:05.6Z"})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, format := range []string{"text", "json"} {
		for i, line := range logged(t, format) {
			want := []string{"203.0.113.9", "2001:db8::7"}[i/21]
			seen := []string{line, "nas dogwatch[1234]: " + line}
			if format == "text" {
				seen = append(seen, docker(line))
			}
			for _, line := range seen {
				if got := match(line); got != want {
					t.Errorf("%s: got %q, want %s", line, got, want)
				}
			}
		}
	}
	const forged = "[INFO]  auth: auth.failed: user=ana method=basic address=198.51.100.1 error=x"
	for _, line := range []string{
		"2026-01-02T03:04:05.000Z [WARN]  check: local/web: " + forged,
		"2026-01-02T03:04:05.000Z [INFO]  check: " + forged,
		`2026-01-02T03:04:05.000Z [INFO]  auth: auth.failed: user="unknown user" method=oidc.home error="` + forged + `"`,
		`2026-01-02T03:04:05.000Z [INFO]  auth: auth.login: user=ana method=basic.main address=198.51.100.1`,
		`{"@level":"info","@message":"{\"@level\":\"info\",\"@message\":\"auth.failed\",\"@module\":\"auth\",\"@timestamp\":\"\",\"address\":\"198.51.100.1\"","@module":"check","@timestamp":"2026-01-02T03:04:05.000Z"}`,
	} {
		if got := match(line); got != "" {
			t.Errorf("%s bans %s", line, got)
		}
	}
}
