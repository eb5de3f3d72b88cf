package install_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
)

// plain is the login of a registry without one.
type plain struct{}

func (plain) Login(context.Context, string, string) (artifact.Login, error) {
	return artifact.Login{Plain: true}, nil
}

// shelf is a repository of a registry in memory.
type shelf struct{ repo string }

func newShelf(t *testing.T) shelf {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return shelf{strings.TrimPrefix(server.URL, "http://") + "/me/lamp"}
}

func (s shelf) source(t *testing.T, tag string) artifact.Source {
	t.Helper()
	source, err := artifact.ParseSource(s.repo + ":" + tag)
	must(t, err)
	return source
}

// push puts a plugin under a tag, whatever it says of itself.
func (s shelf) push(t *testing.T, tag, content string, p artifact.Plugin, signer *artifact.Signer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lamp")
	must(t, os.WriteFile(file, []byte(program(content)), 0o755))
	p.Types = append(p.Types, "trigger.lamp")
	built := []artifact.Built{{File: file, Plugin: p}}
	_, err := artifact.Push(t.Context(), plain{}, "dogwatch/test", *s.source(t, tag).Image, built, signer)
	must(t, err)
}

func newSigner(t *testing.T) *artifact.Signer {
	t.Helper()
	_, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := private.MarshalText()
	must(t, err)
	signer, err := artifact.NewSigner(text, "")
	must(t, err)
	return signer
}

// TestOutdatedOffersWhatUpdateAccepts: an old signed version under a newer tag, another plugin of the
// same publisher and the like are neither offered nor accepted, and hide no real update.
func TestOutdatedOffersWhatUpdateAccepts(t *testing.T) {
	ours, stranger := newSigner(t), newSigner(t)
	lamp := func(version string, types ...string) artifact.Plugin {
		return artifact.Plugin{Name: "lamp", Version: version, Types: types}
	}
	notHeld := errors.New("trigger.mail is held by another plugin")
	may := func(_ string, types []string) error {
		if slices.Contains(types, "trigger.mail") {
			return notHeld
		}
		return nil
	}
	for name, c := range map[string]struct {
		signer *artifact.Signer // of what is installed
		want   string           // the tag that is offered; "" for none
		says   []string         // of tags that are passed over
		pushed func(t *testing.T, s shelf)
	}{
		"a newer version": {ours, "2.0.0", nil, func(t *testing.T, s shelf) { s.push(t, "2.0.0", "2", lamp("2.0.0"), ours) }},
		"replays and the like": {ours, "2.0.0", []string{
			"9.0.0: the tag says version 9.0.0, and the plugin is version 1.0.0", "8.0.0: it is signed by another key",
			"7.0.0: it is not signed", "6.0.0: it is signed as the plugin other",
			"5.0.0: trigger.mail is held by another plugin",
		}, func(t *testing.T, s shelf) {
			s.push(t, "9.0.0", "1", lamp("1.0.0"), ours)
			s.push(t, "8.0.0", "8", lamp("8.0.0"), stranger)
			s.push(t, "7.0.0", "7", lamp("7.0.0"), nil)
			s.push(t, "6.0.0", "6", artifact.Plugin{Name: "other", Version: "6.0.0"}, ours)
			s.push(t, "5.0.0", "5", lamp("5.0.0", "trigger.mail"), ours)
			s.push(t, "2.0.0", "2", lamp("2.0.0"), ours)
		}},
		"a tag that was moved": {ours, "", []string{"1.0.0: its version 1.0.0 is not newer than 1.0.0"},
			func(t *testing.T, s shelf) { s.push(t, "1.0.0", "moved", lamp("1.0.0"), ours) }},
		"an unsigned one": {nil, "2.0.0", nil,
			func(t *testing.T, s shelf) { s.push(t, "2.0.0", "2", lamp("2.0.0"), nil) }},
		"an unsigned one, moved": {nil, "1.0.0", nil,
			func(t *testing.T, s shelf) { s.push(t, "1.0.0", "moved", lamp("1.0.0"), nil) }},
		"an unsigned mistake": {nil, "", []string{"2.0.0: the tag says version 2.0.0, and the plugin is version 0.9.0"},
			func(t *testing.T, s shelf) { s.push(t, "2.0.0", "0", lamp("0.9.0"), nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			s.push(t, "1.0.0", "1", lamp("1.0.0"), c.signer)
			f := open(t, t.TempDir())
			fetcher := artifact.Fetcher{Logins: plain{}, Platform: artifact.Here()}
			first, err := f.Fetch(t.Context(), fetcher, install.Request{Source: s.source(t, "1.0.0")})
			must(t, err)
			must(t, f.Install(first))
			c.pushed(t, s)
			all := f.Installed()
			from := artifact.Fetcher{Logins: plain{}, Platform: artifact.Here()}
			must(t, install.FindNewer(t.Context(), from, time.Now(), all, may))
			offered := strings.TrimPrefix(all[0].Available, s.repo+":")
			if offered != c.want {
				t.Errorf("offered is %q, want %q (%s)", offered, c.want, all[0].Refused)
			}
			for _, want := range c.says {
				if !strings.Contains(all[0].Refused, want) {
					t.Errorf("it does not say %q: %s", want, all[0].Refused)
				}
			}
			for _, tag := range []string{"1.0.0", "2.0.0", "5.0.0", "6.0.0", "7.0.0", "8.0.0", "9.0.0"} {
				r := install.Request{Source: s.source(t, tag), Want: artifact.Want{Name: "lamp"}}
				got, err := f.Fetch(t.Context(), fetcher, r)
				if err == nil {
					err = may(got.Name, got.Types)
				}
				if accepted := err == nil && got.SHA256 != first.SHA256; accepted != (tag == c.want) {
					t.Errorf("update to %s: %v; offered is %q", tag, err, offered)
				}
			}
		})
	}
}
