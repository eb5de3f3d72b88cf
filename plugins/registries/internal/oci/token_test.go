package oci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// What tokens cost: requests for a first and a second round over five repositories.
func TestTokenScopeHints(t *testing.T) {
	tests := []struct {
		name   string
		scopes registrysim.Scopes
		change func(*registrysim.Options)
		first  registrysim.Counts
		tokens int // after the second round
	}{
		{"one for all", registrysim.AllScopes, nil, registrysim.Counts{Total: 7, Tags: 6, Tokens: 1, Refused: 1}, 1},
		// Refused once, and then one each.
		{"service takes one scope", registrysim.OneScope, nil, registrysim.Counts{
			Total: 12, Tags: 6, Tokens: 6, Refused: 1,
		}, 6},
		// The second repository finds out.
		{"service ignores others", registrysim.FirstScope, nil, registrysim.Counts{
			Total: 15, Tags: 10, Tokens: 5, Refused: 5,
		}, 5},
		{"any token will do", registrysim.EveryTarget, func(o *registrysim.Options) {
			o.Service = "ghcr.io"
		}, registrysim.Counts{Total: 7, Tags: 6, Tokens: 1, Refused: 1}, 1},
		{"any token should do", registrysim.AllScopes, func(o *registrysim.Options) {
			o.Service = "ghcr.io"
		}, registrysim.Counts{Total: 12, Tags: 7, Tokens: 5, Refused: 2}, 5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := registrysim.Options{Auth: registrysim.Token, Scopes: test.scopes}
			if test.change != nil {
				test.change(&o)
			}
			sim, r := newSim(o)
			repos := pushAll(sim, fiveNames...)
			listAll(t, r, repos)
			test.first.MaxInFlight = 1
			if got := sim.Counts(); got != test.first {
				t.Errorf("first round %+v\nwant        %+v", got, test.first)
			}
			sim.ResetCounts()
			listAll(t, r, repos)
			if got := sim.Counts(); got.Total != len(repos) {
				t.Errorf("second round %+v", got)
			}
		})
	}
}

// Many requests at once go to a host that is not known yet.
func TestDiscoverySendsOneRequestAlone(t *testing.T) {
	sim, r := newSim(registrysim.Options{Auth: registrysim.Token})
	repos := pushAll(sim, fiveNames...)
	var all sync.WaitGroup
	for range 10 {
		for _, repo := range repos {
			all.Go(func() {
				if _, err := r.Tags(context.Background(), repo, ""); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if got := sim.Counts(); got.Refused != 1 || got.Tokens != 1 || got.Total != 52 {
		t.Errorf("%+v, want one refusal and one token", got)
	}
}

func TestTokenIsRenewedBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, r := newSim(registrysim.Options{Auth: registrysim.Token, TokenLife: 5 * time.Minute})
		repos := pushAll(sim, fiveNames...)
		listAll(t, r, repos)
		sim.ResetCounts()

		time.Sleep(5*time.Minute - tokenMargin - time.Second)
		listAll(t, r, repos)
		if got := sim.Counts(); got.Total != 5 {
			t.Errorf("before its end: %+v", got)
		}
		sim.ResetCounts()
		time.Sleep(2 * time.Second)
		listAll(t, r, repos)
		if got := sim.Counts(); got.Total != 6 || got.Refused != 0 {
			t.Errorf("shortly before its end: %+v, want a new token unasked", got)
		}
		sim.ResetCounts()
		sim.ExpireTokens()
		listAll(t, r, repos)
		if got := sim.Counts(); got.Total != 7 || got.Tokens != 1 || got.Refused != 1 {
			t.Errorf("revoked: %+v, want one refusal and one new token for all", got)
		}
	})
}

// A registry that wants more than "pull" before it lists tags, as Azure's does.
func TestTokenScopeWithFurtherActions(t *testing.T) {
	var scopes []string
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/token" {
			scopes = append(scopes, strings.Join(req.URL.Query()["scope"], " "))
			fmt.Fprintf(w, `{"access_token":"%x"}`, strings.Join(req.URL.Query()["scope"], " "))
			return
		}
		if token := req.Header.Get("Authorization"); !strings.Contains(token, fmt.Sprintf("%x", "metadata_read")) {
			w.Header().Set("WWW-Authenticate",
				`Bearer realm="http://sim.test/token",service="s",scope="repository:team/app:metadata_read"`)
			w.WriteHeader(401)
			return
		}
		w.Write([]byte(`{"tags":["1.0"]}`))
	})
	r := newRegistry(internet{simHost: h})
	mustTags(t, r, app("team/app", "team/other"))
	if want := []string{"repository:team/app:pull,metadata_read repository:team/other:pull,metadata_read"}; !slices.Equal(scopes, want) {
		t.Errorf("requested %q, want %q", scopes, want)
	}
}

// A registry behind which the repository has another name.
func TestTokenScopeOfAnotherName(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		scope := req.URL.Query().Get("scope")
		switch {
		case req.URL.Path == "/token":
			fmt.Fprintf(w, `{"token":"%x"}`, scope)
		case req.Header.Get("Authorization") == fmt.Sprintf("Bearer %x", "repository:remote/team/app:pull"):
			w.Write([]byte(`{"tags":["1.0"]}`))
		default:
			w.Header().Set("WWW-Authenticate",
				`Bearer realm="http://sim.test/token",service="s",scope="repository:remote/team/app:pull"`)
			w.WriteHeader(401)
		}
	})
	mustTags(t, newRegistry(internet{simHost: h}), app("team/app", "team/other"))
}

func TestReadToken(t *testing.T) {
	tests := []struct {
		body, value string
		life        time.Duration
	}{
		{`{"token":"t"}`, "t", time.Minute},
		{`{"access_token":"t","expires_in":300}`, "t", 5 * time.Minute},
		{`{"token":"t","access_token":"u","expires_in":"900","issued_at":"x"}`, "t", 15 * time.Minute},
		{`{"token":"t","expires_in":0}`, "t", time.Minute},
		{`{"token":"t","expires_in":-5000000000000}`, "t", time.Minute},
		{`{"token":"t","expires_in":1e300}`, "t", 12 * time.Hour},
		{`{"token":"t","expires_in":90.5}`, "t", 90500 * time.Millisecond},
		{`{"token":""}`, "", 0},
		{`{"token":"a b"}`, "", 0},
		{`{"token":"a\r\nX-Evil: 1"}`, "", 0},
		{`{"token":"a\u0000"}`, "", 0},
		{`{"token":5}`, "", 0},
		{`{"token":"s3cret`, "", 0},
		{`<html>`, "", 0},
		{`{"token":"` + strings.Repeat("a", maxTokenBody) + `"}`, "", 0},
	}
	for _, test := range tests {
		w := httptest.NewRecorder()
		w.WriteString(test.body)
		value, life, err := readToken(w.Result())
		if value != test.value || life != test.life || (err == nil) != (test.value != "") {
			t.Errorf("%.60s = %q, %v, %v; want %q, %v", test.body, value, life, err, test.value, test.life)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("leaks: %v", err)
		}
	}
}

// The call that fetches a token is cancelled; the calls that wait for it do not fail.
func TestTokenIsFetchedAgainAfterCancel(t *testing.T) {
	i := &issuer{tokens: map[string]*token{}}
	ctx, cancel := context.WithCancel(t.Context())
	fetching, gone := make(chan struct{}), make(chan error)
	go func() {
		_, _, err := i.token(ctx, tokenRequest{scope: "s"},
			func(ctx context.Context, _ []string) (string, time.Duration, error) {
				close(fetching)
				<-ctx.Done()
				return "", 0, ctx.Err()
			})
		gone <- err
	}()
	<-fetching
	got := make(chan string)
	go func() {
		tok, _, err := i.token(t.Context(), tokenRequest{scope: "s"},
			func(context.Context, []string) (string, time.Duration, error) {
				return "fine", time.Minute, nil
			})
		if err != nil {
			t.Error(err)
		}
		got <- tok.value
	}()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if value := <-got; value != "fine" {
		t.Errorf("the other got %q", value)
	}
}

func TestTokenURL(t *testing.T) {
	realm, _ := url.Parse("https://auth.test/token?client=x")
	got := tokenURL(realm, "reg istry", []string{"repository:a/b:pull", "repository:c:pull"}).String()
	if want := "https://auth.test/token?client=x&scope=repository%3Aa%2Fb%3Apull&scope=repository%3Ac%3Apull&service=reg+istry"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if realm.RawQuery != "client=x" {
		t.Error("the realm has changed")
	}
}

// A request for very many repositories stays within what servers accept.
func TestTokenRequestLengthIsBounded(t *testing.T) {
	var longest int
	sim := registrysim.New(registrysim.Options{Auth: registrysim.Token})
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		longest = max(longest, len(req.URL.RequestURI()))
		sim.ServeHTTP(w, req)
	})
	var names []string
	for n := range 300 {
		names = append(names, fmt.Sprintf("a-rather-long-organisation-name/application-%d", n))
	}
	r := newRegistry(internet{simHost: h})
	listAll(t, r, pushAll(sim, names...))
	if longest > 8000 || sim.Counts().Tokens > 6 {
		t.Errorf("%d tokens, the longest request has %d bytes", sim.Counts().Tokens, longest)
	}
}
