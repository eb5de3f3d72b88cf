package chat

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestOf(t *testing.T) {
	tests := map[string]struct {
		title, body string
		untitled    bool
		want        Message
	}{
		"both":         {"A title", "A body", false, Message{"A title", "A body"}},
		"untitled":     {"A title", "A body", true, Message{"", "A body"}},
		"nothing":      {" \n", "\n\t", false, Message{"", nothing}},
		"only a title": {"A title", "", true, Message{"", nothing}},
		"no body":      {"A title", "\x00", false, Message{"A title", ""}},
		"lines":        {"one\r\ntwo\tthree", "\none\r\ntwo\rthree\n\n", false, Message{"one two three", "one\ntwo\nthree"}},
		"controls":     {"a\x07b\u0085", "a\x00b\x1b\tc", false, Message{"ab", "ab\tc"}},
		"invalid":      {"a\xff", "\xc3", false, Message{"a\uFFFD", "\uFFFD"}},
	}
	for name, test := range tests {
		if got := Of(trigger.Request{Title: test.title, Body: test.body}, test.untitled); got != test.want {
			t.Errorf("%s: %+q, want %+q", name, got, test.want)
		}
	}
	long := Of(trigger.Request{Title: strings.Repeat("é", 1<<10), Body: strings.Repeat("é", 1<<20)}, false)
	if utf8.RuneCountInString(long.Title) != MaxTitle || len(long.Body) > maxBodyBytes {
		t.Errorf("%d characters of title, %d bytes of body", utf8.RuneCountInString(long.Title), len(long.Body))
	}
}

func TestJoin(t *testing.T) {
	for _, test := range [][3]string{{"a", "b", "a\n\nb"}, {"", "b", "b"}, {"a", "", "a"}} {
		if got := Join(test[0], test[1]); got != test[2] {
			t.Errorf("%q", got)
		}
	}
	if Wrap("<", "", ">") != "" || Wrap("<", "a", ">") != "<a>" {
		t.Error("marks around nothing, or none around something")
	}
}

func TestSeconds(t *testing.T) {
	for n, want := range map[float64]time.Duration{0: 0, -1: 0, 1.5: 1500 * time.Millisecond, 1e300: maxWait} {
		if got := Seconds(n); got != want {
			t.Errorf("%v: %v", n, got)
		}
	}
}

func TestCheckURL(t *testing.T) {
	for text, good := range map[string]bool{"https://a": true, "http://a": true, "ftp://a": false} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckURL("avatar", u); (err == nil) != good || !good && !strings.HasPrefix(err.Error(), "avatar: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := CheckURL("avatar", nil); err != nil {
		t.Error(err)
	}
}

// The kind of an error, its option and its text come from what the service
// says; the rest from the status.
func TestServiceErrors(t *testing.T) {
	const secret = "recognisable-secret"
	tests := map[string]struct {
		status  int
		problem *ServiceError
		want    string
		kind    error
		option  string
		wait    time.Duration
	}{
		"accepted": {status: 204},
		"status":   {status: 403, want: "answered 403 Forbidden: page ***", kind: sdk.ErrUnauthorized},
		"text": {
			status: 404, problem: &ServiceError{Text: "no such hook " + secret},
			want: "answered 404 Not Found: no such hook ***", kind: sdk.ErrNotFound,
		},
		"option": {status: 404, problem: &ServiceError{Text: "gone", Option: "url"}, want: "url: ", option: "url"},
		"option unauthorized": {
			status: 401, problem: &ServiceError{Text: "no", Option: "token"},
			want: "answered 401 Unauthorized: no; check token", kind: sdk.ErrUnauthorized,
		},
		"unavailable": {
			status: 503, problem: &ServiceError{Text: "soon"}, want: "answered 503 Service Unavailable: soon",
			kind: sdk.ErrUnavailable,
		},
		"kind": {
			status: 400, problem: &ServiceError{Text: "later", Kind: sdk.ErrUnavailable},
			want: "answered 400 Bad Request: later", kind: sdk.ErrUnavailable,
		},
		"in a success": {
			status: 200, problem: &ServiceError{Text: "bad " + secret}, want: "refused the message: bad ***", option: "any",
		},
		"kind in a success": {
			status: 200, problem: &ServiceError{Text: "bad", Kind: sdk.ErrUnauthorized, Option: "token"},
			want: "refused the message: bad; check token", kind: sdk.ErrUnauthorized,
		},
		"wait": {
			status: 200, problem: &ServiceError{Text: "slow", Wait: time.Minute}, want: "refused the message: slow",
			wait: time.Minute,
		},
		"wait in a 429": {
			status: 429, problem: &ServiceError{Text: "slow", Wait: time.Minute},
			want: "answered 429 Too Many Requests: slow", wait: time.Minute,
		},
		"wait in a header": {
			status: 429, problem: &ServiceError{Text: "slow", Option: "url"}, want: "answered 429 Too Many Requests: slow", wait: -1,
		},
		"wait too long": {status: 429, problem: &ServiceError{Text: "slow", Wait: 1 << 60}, want: "slow", wait: maxWait},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := sink.RespondWith(t, test.status, map[bool]string{true: "page " + secret}[test.status != 204])
			explain := func(a Response) *ServiceError {
				if a.Status != test.status || a.OK() != (test.status < 300) {
					t.Errorf("%+v", a)
				}
				return test.problem
			}
			c, err := New(sdk.Env{}, httpclient.Options{}, Service{
				Header: http.Header{"X-Test": {"1"}}, Explain: explain, Secrets: []string{secret},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Send(t.Context(), http.MethodPost, s.URL, map[string]string{"text": "<&>"})
			if call := s.Last(t); string(call.Body) != `{"text":"<&>"}` ||
				call.Header.Get("Content-Type") != "application/json; charset=utf-8" || call.Header.Get("X-Test") != "1" {
				t.Errorf("%s %v", call.Body, call.Header)
			}
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			var invalid *sdk.InvalidError
			var limited *sdk.RateLimitedError
			switch {
			case test.wait != 0:
				if !errors.As(err, &limited) || limited.After != max(test.wait, 0) || errors.As(err, &invalid) {
					t.Errorf("%#v", err)
				}
			case test.option != "":
				if !errors.As(err, &invalid) || test.option != "any" && invalid.Fields[0].Field != test.option {
					t.Errorf("%#v", err)
				}
			default:
				if !errors.Is(err, test.kind) || errors.As(err, &invalid) {
					t.Errorf("%#v", err)
				}
			}
		})
	}
}

func TestWrongClient(t *testing.T) {
	if _, err := New(sdk.Env{}, httpclient.Options{}, Hook(&url.URL{Scheme: "ftp", Host: "a"}, nil)); err == nil ||
		!strings.HasPrefix(err.Error(), "url: ") {
		t.Errorf("an address that is none of the web: %v", err)
	}
	if _, err := New(sdk.Env{}, httpclient.Options{TLS: httpclient.TLS{CAFile: "nosuchfile"}}, Service{}); err == nil {
		t.Error("a file that is not there was accepted")
	}
	c, err := New(sdk.Env{}, httpclient.Options{}, Service{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), "GET", "http://\x00", nil); err == nil {
		t.Error("a malformed address was accepted")
	}
	if _, err := c.Send(t.Context(), "GET", "http://a", func() {}); err == nil {
		t.Error("what is no JSON was accepted")
	}
}
