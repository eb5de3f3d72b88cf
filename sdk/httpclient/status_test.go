package httpclient

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk"
)

func response(status int, contentType, text string, header http.Header) *http.Response {
	h := http.Header{"Content-Type": {contentType}}
	for name, values := range header {
		h[name] = values
	}
	target := &url.URL{
		Scheme: "https", Host: "api.example.org", Path: "/bots3cret/send", RawQuery: "k=s3cret",
		User: url.UserPassword("u", "us3rpass"),
	}
	return &http.Response{
		StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(text)),
		Request: &http.Request{Method: "POST", URL: target, Header: http.Header{
			"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("ana:basicpass"))},
			"X-Gotify-Key":  {"gotifykey"},
		}},
	}
}

func TestCheckStatusKinds(t *testing.T) {
	c := newClient(t, Options{})
	wait := http.Header{"Retry-After": {"7"}}
	tests := []struct {
		status int
		header http.Header
		is     error // nil: an InvalidError
		after  time.Duration
	}{
		{401, nil, sdk.ErrUnauthorized, -1}, {403, nil, sdk.ErrUnauthorized, -1}, {407, nil, sdk.ErrUnauthorized, -1},
		{404, nil, sdk.ErrNotFound, -1}, {410, nil, sdk.ErrNotFound, -1},
		{408, nil, sdk.ErrUnavailable, -1}, {425, nil, sdk.ErrUnavailable, -1}, {500, nil, sdk.ErrUnavailable, -1},
		{502, nil, sdk.ErrUnavailable, -1}, {503, wait, sdk.ErrUnavailable, 7 * time.Second},
		{599, nil, sdk.ErrUnavailable, -1},
		{400, nil, nil, -1}, {405, nil, nil, -1}, {413, nil, nil, -1}, {422, nil, nil, -1},
	}
	for _, test := range tests {
		err := c.CheckStatus(response(test.status, "text/plain", "because", test.header))
		if err == nil || !strings.HasPrefix(err.Error(), "api.example.org answered ") ||
			!strings.HasSuffix(err.Error(), ": because") {
			t.Errorf("%d: error %v", test.status, err)
		}
		var invalid *sdk.InvalidError
		if test.is == nil != errors.As(err, &invalid) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%d: %T is of another kind than %v", test.status, err, test.is)
		}
		var limited *sdk.RateLimitedError
		if errors.As(err, &limited) != (test.after >= 0) || limited != nil && limited.After != test.after {
			t.Errorf("%d: %v waits, want %v", test.status, limited, test.after)
		}
	}
	for _, status := range []int{200, 201, 202, 204, 299} {
		if err := c.CheckStatus(response(status, "", "", nil)); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
	if err := c.CheckStatus(response(304, "", "", nil)); err == nil || sdk.Retryable(err) {
		t.Errorf("304: %v", err)
	}
	var limited *sdk.RateLimitedError
	if err := c.CheckStatus(response(429, "", "", wait)); !errors.As(err, &limited) || limited.After != 7*time.Second {
		t.Errorf("429: %v", err)
	}
	if err := c.CheckStatus(response(429, "", "", nil)); !errors.As(err, &limited) || limited.After != 0 ||
		!sdk.Retryable(err) {
		t.Errorf("429 without a time: %v", err)
	}
}

func TestExcerpt(t *testing.T) {
	c := newClient(t, Options{}, "bot-s3cret", `quo"ted/s3cret`, "abc")
	long := strings.Repeat("é", 5000)
	tests := []struct{ name, contentType, body, want string }{
		{"one line", "text/plain", "  bad\r\n\tchat \x00\x1b[31mid\u202e ", "bad chat [31mid"},
		{"empty", "text/plain", "", ""},
		{"page", "text/html; charset=utf-8", "<html>", ""},
		{"not UTF-8", "text/plain", "a\xffb", "a\uFFFDb"},
		{"long", "text/plain", long, strings.Repeat("é", 199) + "…"},
		{"listed secret", "text/plain", "token bot-s3cret is wrong", "token *** is wrong"},
		{"listed secret in JSON", "application/json", `{"error":"quo\"ted/s3cret"}`, `{"error":"***"}`},
		{"listed secret in a URL", "text/plain", "at /quo%22ted%2Fs3cret?", "at /***?"},
		{"header", "text/plain", "X-Gotify-Key gotifykey", "X-Gotify-Key ***"},
		{"basic", "text/plain", "got YW5hOmJhc2ljcGFzcw== basicpass", "got *** ***"},
		{"user part", "text/plain", "us3rpass", "***"},
		{"too short to be a secret", "text/plain", "abc", "abc"},
		{"cut secret", "text/plain", strings.Repeat(" ", maxExcerptBytes-8) + "bot-s3cret", ""},
		{"secret at the end of the excerpt", "text/plain", strings.Repeat("x", 195) + "bot-s3cret",
			strings.Repeat("x", 195) + "***"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := c.excerpt(response(400, test.contentType, test.body, nil)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// However much of a secret the limit leaves, nothing of it is shown.
func TestExcerptCutsNoSecretInTwo(t *testing.T) {
	secret := strings.Repeat("0123456789", 8)
	c := newClient(t, Options{}, "short-s3cret", secret)
	for cut := 1; cut <= 4*len(secret); cut++ {
		body := strings.Repeat(" ", maxExcerptBytes-cut) + secret + strings.Repeat(" ", 400)
		got := c.excerpt(&http.Response{Body: io.NopCloser(strings.NewReader(body))})
		if strings.Trim(got, "*") != "" {
			t.Fatalf("%d bytes of the secret within the limit: %q", cut, got)
		}
	}
	whole := strings.Repeat(" ", maxExcerptBytes-4*len(secret)) + secret + strings.Repeat(" ", 400)
	if got := c.excerpt(&http.Response{Body: io.NopCloser(strings.NewReader(whole))}); got != "***" {
		t.Errorf("a whole secret: %q", got)
	}
}

// Without a secret there is nothing to leave out at the limit.
func TestExcerptWithoutSecrets(t *testing.T) {
	const end = "because of this"
	for _, behind := range []string{"", strings.Repeat("x", 5000)} {
		body := strings.Repeat(" ", maxExcerptBytes-len(end)) + end + behind
		if got := newClient(t, Options{}).excerpt(&http.Response{Body: io.NopCloser(strings.NewReader(body))}); got != end {
			t.Errorf("%d bytes: %q, want %q", len(body), got, end)
		}
	}
}

func TestSecretParts(t *testing.T) {
	u, err := url.Parse("https://ana:pa%2Fssword@host/services/T0KEN?key=s3cret&key=s3cret2")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Clean("host services T0KEN s3cret s3cret2 pa/ssword pa%2Fssword", SecretParts(u)...),
		"host *** *** *** *** *** ***"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "120", 2 * time.Minute},
		{"Retry-After", " 1.5 ", 1500 * time.Millisecond},
		{"Retry-After", "Sat, 21 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{"Retry-After", "Sat, 21 Nov 2026 11:00:00 GMT", 0},
		{"Retry-After", "1795262460", time.Minute}, // seconds since 1970
		{"Retry-After", "-5", 0},
		{"Retry-After", "999999999", maxWait},
		{"Retry-After", "1e300", maxWait},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "+Inf", maxWait},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
		{"X-Retry-After", "1795262460", time.Minute},
		{"RateLimit-Reset", "9", 9 * time.Second},
		{"X-RateLimit-Reset", "1795262410", 10 * time.Second},
		{"Other", "9", 0},
	}
	for _, test := range tests {
		h := http.Header{}
		h.Set(test.header, test.value)
		if got := ParseRetryAfter(h, now); got != test.want {
			t.Errorf("%s: %q = %v, want %v", test.header, test.value, got, test.want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sat, 21 Nov 2026 12:00:30 GMT")
	f.Add("1795262460")
	f.Fuzz(func(t *testing.T, value string) {
		if got := ParseRetryAfter(http.Header{"Retry-After": {value}}, time.Now()); got < 0 || got > maxWait {
			t.Errorf("%q = %v", value, got)
		}
	})
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
		cut   bool
	}{
		{"", 0, "", false}, {"abc", 3, "abc", false}, {"abcd", 3, "ab…", true}, {"éàü", 3, "éàü", false},
		{"éàüö", 3, "éà…", true}, {"ab", 1, "…", true}, {"ab", 0, "", true}, {"ab", -1, "", true},
		{"\xff", 5, "\uFFFD", false},
	}
	for _, test := range tests {
		if got, cut := Truncate(test.in, test.limit); got != test.want || cut != test.cut {
			t.Errorf("Truncate(%q, %d) = %q, %v", test.in, test.limit, got, cut)
		}
	}
}

func TestTruncateBytes(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
		cut   bool
	}{
		{"", 0, "", false}, {"abc", 3, "abc", false}, {"abcd", 3, "…", true}, {"abcd", 2, "", true},
		{"abcd", 0, "", true}, {"abcd", -1, "", true},
		{"abcde", 4, "a…", true}, {"éà", 3, "…", true}, {"éàü", 4, "…", true}, {"éàü", 5, "é…", true},
		{"\xff", 3, "\uFFFD", false}, {"\xff\xff", 3, "\uFFFD", false},
	}
	for _, test := range tests {
		if got, cut := TruncateBytes(test.in, test.limit); got != test.want || cut != test.cut {
			t.Errorf("TruncateBytes(%q, %d) = %q, %v, want %q, %v", test.in, test.limit, got, cut, test.want, test.cut)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("hello wörld 🐶", 5)
	f.Add("\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got, _ := Truncate(s, limit)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > max(limit, 0) {
			t.Errorf("Truncate(%q, %d) = %q", s, limit, got)
		}
		if got, _ = TruncateBytes(s, limit); !utf8.ValidString(got) || len(got) > max(limit, 0) {
			t.Errorf("TruncateBytes(%q, %d) = %q", s, limit, got)
		}
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("no bot-s3cret here")
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text, "bot-s3cret")
		if utf8.RuneCountInString(got) > maxExcerpt || strings.ContainsAny(got, "\r\n\x1b\x00") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
