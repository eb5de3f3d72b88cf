package auth

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/store"
)

// BenchmarkIdentify is what a request costs before its handler runs.
func BenchmarkIdentify(b *testing.B) {
	hash, err := Hash(password, "bcrypt")
	if err != nil {
		b.Fatal(err)
	}
	conf, err := config.Load(config.Input{
		Environ: []string{"HOME=/h", "WUD_AUTH_BASIC_MAIN_USER=ana", "WUD_AUTH_BASIC_MAIN_HASH=" + hash},
	})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	a := New(Options{Config: conf, Store: s, Log: hclog.NewNullLogger(), Now: time.Now})
	newRequest := func() *http.Request { return httptest.NewRequest(http.MethodGet, "/", nil) }

	basic := newRequest()
	basic.SetBasicAuth("ana", password)
	response := httptest.NewRecorder()
	if _, err := a.Login(response, newRequest(), "ana", password, true); err != nil {
		b.Fatal(err)
	}
	session := newRequest()
	session.AddCookie(response.Result().Cookies()[0])
	secret, _, err := a.CreateToken(b.Context(), Actor{}, NewToken{Name: "x", Scope: Read})
	if err != nil {
		b.Fatal(err)
	}
	token := newRequest()
	token.Header.Set("Authorization", "Bearer "+secret)
	for name, r := range map[string]*http.Request{"basic": basic, "session": session, "token": token} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if caller, err := a.Identify(httptest.NewRecorder(), r); err != nil || caller.Scope < Read {
					b.Fatal(caller, err)
				}
			}
		})
	}
	b.Run("argon2id hash", func(b *testing.B) {
		for b.Loop() {
			if _, err := Hash(password, "argon2id"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
