package registries_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// hostile is a registry with accounts and tokens that can be made to misbehave,
// and an instance that is its client.
func hostile(t *testing.T, timeout string) (*registrysim.Registry, registry.Registry, registry.Repository) {
	t.Helper()
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Token, Users: map[string]string{user: secret}})
	sim.Push("team/app", "1.0.0", "latest")
	server := start(t, sim)
	r, err := typeOf(t, "custom").New(sdk.Env{Instance: "registry.custom.main"}, map[string]any{
		"url": server.URL, "login": user, "password": secret, "timeout": timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	return sim, r, registry.Repository{Host: server.Host, Name: "team/app"}
}

// echo responds with everything in the request.
func echo(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		text := fmt.Sprintf("%s %s %s %s %v", r.URL, name, password, url.QueryEscape(password), r.Header)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Echo", text)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errors":[{"code":"ECHO","message":%q}]}`, text)
	}
}

// Every way of a registry to break the protocol gives one clear error of the
// right kind, without a secret in it, and the next good response is used.
func TestProtocolErrorsOfEveryType(t *testing.T) {
	type tags = registrysim.Kind
	unavailable, unauthorized, notFound, limited := sdk.ErrUnavailable, sdk.ErrUnauthorized, sdk.ErrNotFound,
		errors.New("limited")
	body := func(text string) http.HandlerFunc {
		return registrysim.Status(200, text, "Content-Type", "application/json")
	}
	status := registrysim.Status
	huge := strings.Repeat("x", 300<<10)
	tests := []struct {
		name  string
		kind  tags
		fault http.HandlerFunc
		is    error
		want  string
	}{
		{"web page", registrysim.TagsRequest, registrysim.WebPage(), unavailable, "web page"},
		{"web page as an error", registrysim.TagsRequest, status(502, "<html>", "Content-Type", "text/html"),
			unavailable, "502 bad gateway: a web page"},
		{"truncated JSON", registrysim.TagsRequest, body(`{"tags":["1.0.0","1.`), unavailable, "broke off a list of tags"},
		{"short body", registrysim.TagsRequest, status(200, `{"tags":`, "Content-Length", "1000"), unavailable,
			"unexpected EOF"},
		{"NUL in a tag", registrysim.TagsRequest, body(`{"tags":["1.0\u0000"]}`), unavailable, "control characters"},
		{"binary", registrysim.TagsRequest, status(200, "\x00\x01\x02", "Content-Type", "application/octet-stream"),
			unavailable, "malformed JSON"},
		{"endless list", registrysim.TagsRequest, body(`{"tags":["` + strings.Repeat(`tag","`, 1<<20) + `"]}`),
			unavailable, "more than 100000 tags"},
		{"endless page", registrysim.TagsRequest,
			body(`{"tags":["` + strings.Repeat(`no tag but characters xyz","`, 1<<20) + `"]}`),
			unavailable, "too large"},
		{"page that leads to itself", registrysim.TagsRequest,
			status(200, `{"tags":["1"]}`, "Link", `<?n=1000>; rel="next"`), unavailable, "round in circles"},
		{"slow body", registrysim.TagsRequest, registrysim.Stall(0), unavailable, "broke off"},
		{"connection closed", registrysim.TagsRequest, registrysim.Break(), unavailable, "EOF"},
		{"redirect loop", registrysim.TagsRequest, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		}, unavailable, "10 redirects"},
		{"redirect to nowhere", registrysim.TagsRequest, status(302, "", "Location", "http://[::::/"), unavailable,
			"Location"},
		{"redirect to a link-local address", registrysim.TagsRequest, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.0.1:1/v2/", http.StatusFound)
		}, unavailable, "link-local"},
		{"redirect with credentials", registrysim.TagsRequest, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://ann:pass@"+r.Host+"/v2/", http.StatusFound)
		}, unavailable, "credentials of its own"},
		{"token service at a link-local address", registrysim.TagsRequest,
			status(401, "", "WWW-Authenticate", `Bearer realm="http://169.254.0.1:1/token",service="s"`), unauthorized,
			"credentials were not sent to 169.254.0.1"},
		{"huge header", registrysim.TagsRequest, status(200, `{"tags":["1"]}`, "X-Huge", huge), unavailable, "exceeded"},
		{"unasked not modified", registrysim.TagsRequest, status(304, ""), unavailable, "nothing has changed"},
		{"500", registrysim.TagsRequest, echo(500), unavailable, "500 internal server error"},
		{"401 for ever", registrysim.TagsRequest, echo(401), unauthorized,
			"check login and password of registry.custom.main"},
		{"403", registrysim.TagsRequest, echo(403), unauthorized, "403 forbidden"},
		{"404", registrysim.TagsRequest, echo(404), notFound, "404 not found"},
		{"418", registrysim.TagsRequest, echo(418), unavailable, "418"},
		{"429", registrysim.TagsRequest, status(429, "", "Retry-After", "60"), limited, "429 too many requests"},
		{"429 in words", registrysim.TagsRequest, echo(429), limited, "429"},
		{"pull limit", registrysim.TagsRequest, registrysim.PullLimit(), limited, "the pull limit"},

		{"token service fails", registrysim.TokenRequest, echo(500), unavailable, "get a token from"},
		{"token service refuses", registrysim.TokenRequest, echo(401), unauthorized, "get a token from"},
		{"token service forbids", registrysim.TokenRequest, echo(403), unauthorized, "get a token from"},
		{"token service is not there", registrysim.TokenRequest, echo(404), unavailable, "get a token from"},
		{"token service limits", registrysim.TokenRequest, status(429, "", "Retry-After", "60"), limited, "429"},
		{"token is a web page", registrysim.TokenRequest, registrysim.WebPage(), unavailable, "web page"},
		{"no token", registrysim.TokenRequest, body(`{}`), unavailable, "no usable token"},
		{"token with a line break", registrysim.TokenRequest, body(`{"token":"a\r\nX: y"}`), unavailable, "no usable token"},
		{"truncated token", registrysim.TokenRequest, body(`{"token":"abc`), unavailable, "gave no token"},
		{"huge token", registrysim.TokenRequest, body(`{"token":"` + huge + `"}`), unavailable, "too large"},
		{"token that ended long ago", registrysim.TokenRequest, body(`{"token":"abc","expires_in":-99999999999}`),
			unauthorized, "401"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sim, r, repo := hostile(t, "30s")
			sim.Inject(test.kind, 1000, test.fault)
			list, err := r.Tags(t.Context(), repo, "")
			var limit *sdk.RateLimitedError
			switch {
			case err == nil:
				t.Fatalf("believed: %d tags", len(list.Tags))
			case test.is == limited && !errors.As(err, &limit), test.is != limited && !errors.Is(err, test.is):
				t.Errorf("%v is not %v", err, test.is)
			}
			text := err.Error()
			if !strings.HasPrefix(text, "list tags of team/app at 127.0.0.1:") || !strings.Contains(text, test.want) {
				t.Errorf("error %q, want %q", text, test.want)
			}
			for _, leak := range []string{secret, auth, "recognisable", "sim-token", "\n", "\x00"} {
				if strings.Contains(text, leak) {
					t.Errorf("leaks %q: %q", leak, text)
				}
			}
			if got := sim.Counts(); got.Total > 1010 {
				t.Errorf("%d requests for one response", got.Total)
			}
		})
	}
}

// After trouble, a registry that works again is believed again.
func TestRecoveryAfterProtocolErrors(t *testing.T) {
	for _, kind := range []registrysim.Kind{registrysim.TagsRequest, registrysim.TokenRequest} {
		sim, r, repo := hostile(t, "30s")
		sim.Inject(kind, 1, registrysim.WebPage())
		if _, err := r.Tags(t.Context(), repo, ""); err == nil {
			t.Fatal("believed")
		}
		list, err := r.Tags(t.Context(), repo, "")
		if err != nil || len(list.Tags) != 2 {
			t.Errorf("%+v, %v", list, err)
		}
	}
}

func TestTimeoutOfSlowResponses(t *testing.T) {
	sim, r, repo := hostile(t, "500ms")
	sim.Inject(registrysim.TagsRequest, 1, registrysim.Stall(1e18))
	_, err := r.Tags(t.Context(), repo, "")
	if !errors.Is(err, sdk.ErrUnavailable) || !strings.Contains(err.Error(), "no answer within 500ms") {
		t.Errorf("error %v", err)
	}
	sim.Inject(registrysim.HeadRequest, 1, registrysim.Stall(1e18))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = r.Resolve(ctx, repo, "latest"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A list of 100,000 tags is long, and within the bounds.
func TestManyTags(t *testing.T) {
	sim, r, repo := hostile(t, "30s")
	tags := make([]string, 99_998)
	for i := range tags {
		tags[i] = fmt.Sprintf("1.%d", i)
	}
	sim.Push(repo.Name, tags...)
	list, err := r.Tags(t.Context(), repo, "")
	if err != nil || len(list.Tags) != len(tags)+2 {
		t.Errorf("%d tags, %v", len(list.Tags), err)
	}
	if got := sim.Counts().Tags; got != 101 {
		t.Errorf("%d pages", got)
	}
}
