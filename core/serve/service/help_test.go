package service

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/store/storetest"
	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// secret is what must not be seen.
const secret = "s3cret"

// The actors by what they may do.
var (
	unknown  = auth.Actor{}
	reader   = auth.Actor{Identity: auth.Identity{User: "ci", Method: "token", Scope: auth.Read}}
	writer   = auth.Actor{Identity: auth.Identity{User: "ci", Method: "token", Scope: auth.Write}}
	loggedIn = auth.Actor{Identity: auth.Identity{User: "ana", Method: "basic.ana", Scope: auth.Manage}}
)

// newService returns a service with a store, and with what change sets.
func newService(t testing.TB, change func(*Options)) (*Service, *store.Store) {
	t.Helper()
	s := storetest.Open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	t.Cleanup(func() { s.Close() })
	opt := Options{
		Config: func() *config.Config { return &config.Config{} }, Store: s,
		Auth:   auth.New(auth.Options{Config: &config.Config{}, Store: s, Log: hclog.NewNullLogger()}),
		Redact: func(text string) string { return strings.ReplaceAll(text, secret, "***") }, Log: hclog.NewNullLogger(),
		Now: time.Now, Links: signedlink.None{}, Notes: notes.None{}, Webhooks: webhook.None{}, Scans: scan.None{},
	}
	if change != nil {
		change(&opt)
	}
	return New(opt), s
}
