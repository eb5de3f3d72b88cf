package install_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/internal/gallery"
)

func index(version string, plugins ...string) gallery.Index {
	x := gallery.Index{Version: version}
	for _, at := range plugins {
		name := at[strings.LastIndexByte(at, '/')+1:]
		x.Plugins = append(x.Plugins, gallery.Plugin{Name: name, Install: at, Source: "https://git.example.org/" + name})
	}
	return x
}

// TestNewestIndexWidensNoTrust: it counts as far as it is of no older release and has the repositories that are built
// in; what is wrong with it is said.
func TestNewestIndexWidensNoTrust(t *testing.T) {
	for what, c := range map[string]struct {
		newest gallery.Index
		err    error
		want   string // references
		says   string
	}{
		"newer": {index("1.3.0", "ghcr.io/dogwatch/bell", "ghcr.io/ana/horn"), nil,
			"ghcr.io/dogwatch/bell:1.3.0 ghcr.io/ana/horn", ""},
		"older": {index("1.1.0", "ghcr.io/dogwatch/bell"), nil, "ghcr.io/dogwatch/bell:1.2.3", "of version 1.1.0, and this is"},
		"elsewhere": {index("1.3.0", "ghcr.io/eve/bell", "ghcr.io/ana/horn"), nil, "ghcr.io/ana/horn",
			"other repositories for bell"},
		"unreachable": {gallery.Index{}, errors.New("no route"), "ghcr.io/dogwatch/bell:1.2.3", "no route"},
	} {
		g := install.Gallery{
			BuiltIn: index("1.2.3", "ghcr.io/dogwatch/bell"),
			Newest:  func(context.Context) (gallery.Index, error) { return c.newest, c.err },
		}
		x, err := g.Index(t.Context(), true)
		var references []string
		for _, p := range x.Plugins {
			references = append(references, x.Reference(p))
		}
		if got := strings.Join(references, " "); got != c.want || (err == nil) != (c.says == "") ||
			err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %s, %v; want %s, %s", what, got, err, c.want, c.says)
		}
	}
}

func TestOffersSayWhatIsInstalled(t *testing.T) {
	g := install.Gallery{BuiltIn: index("1.2.3", "ghcr.io/dogwatch/bell", "ghcr.io/dogwatch/drum", "ghcr.io/dogwatch/horn")}
	offers := g.Offers(g.BuiltIn, g.BuiltIn.Plugins, []install.Status{
		{Name: "bell", Pin: install.Pin{Ref: "ghcr.io/dogwatch/bell:1.0.0", Version: "1.0.0"}, Previous: "0.9.0"},
		{Name: "drum", Pin: install.Pin{Ref: "ghcr.io/ana/drum:1.0.0", Version: "1.0.0"}}, // of somebody else
		{Name: "horn", Pin: install.Pin{Ref: "ghcr.io/dogwatch/horn:1.2.3", Version: "1.2.3"}},
	})
	for i, want := range []string{"1.0.0 0.9.0 ghcr.io/dogwatch/bell:1.2.3", "  ", "1.2.3  "} {
		if o := offers[i]; o.Installed+" "+o.Previous+" "+o.Newer != want || !o.BuiltIn {
			t.Errorf("%s: got %+v", o.Name, o)
		}
	}
}

// TestReleasesHaveOneKey: whatever is below the repositories of releases, and nothing else.
func TestReleasesHaveOneKey(t *testing.T) {
	key, err := artifact.ParseKey("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3")
	if err != nil {
		t.Fatal(err)
	}
	g := install.Gallery{Key: key}
	for reference, want := range map[string]bool{
		"ghcr.io/dogwatch/bell:1.2.3": true, "oci://ghcr.io/dogwatch/bell": true, "ghcr.io/dogwatch.evil/bell": false,
		"ghcr.io/dogwatchers/bell:1": false, "ghcr.io/ana/bell:1": false, "https://ghcr.io/dogwatch/bell": false,
	} {
		s, err := artifact.ParseSource(reference)
		if err != nil {
			t.Fatal(err)
		}
		if got := !g.KeyOf(s).IsZero(); got != want {
			t.Errorf("%s has the key of releases: %v", reference, got)
		}
	}
}
