package kind_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

type options struct {
	URL string `option:"url,required" help:"Address"`
}

type barker interface{ Bark() }

type dog struct{}

func (dog) Bark() {}

func TestDefine(t *testing.T) {
	offers := map[string]reflect.Type{kind.CapWatch: reflect.TypeFor[barker]()}
	got := kind.Define[options, dog](kind.Trigger, "ntfy2", "Publish", offers,
		kind.Docs("https://example.org"), kind.Default("main"), kind.Deliver(kind.AtMostOnce), kind.Needs(kind.CapEngine))
	if got.Kind != kind.Trigger || got.Name != "ntfy2" || got.Summary != "Publish" || len(got.Options) != 1 {
		t.Errorf("got %+v", got)
	}
	if got.DocsURL != "https://example.org" || got.DefaultName != "main" || got.Guarantee != kind.AtMostOnce {
		t.Errorf("got %+v", got)
	}
	if want := []string{kind.CapWatch, kind.CapEngine}; !slices.Equal(got.Capabilities, want) {
		t.Errorf("the capabilities are %q, want %q", got.Capabilities, want)
	}
	plain := kind.Define[options, int](kind.Watcher, "plain", "Watch", offers)
	if plain.Capabilities != nil || plain.Guarantee != kind.AtLeastOnce || plain.DefaultName != "" {
		t.Errorf("got %+v", plain)
	}
}

func TestDefinePanicsOnMistakes(t *testing.T) {
	type noHelp struct {
		URL string `option:"url"`
	}
	for want, define := range map[string]func(){
		"a-z and 0-9":      func() { kind.Define[options, dog](kind.Trigger, "my-type", "x", nil) },
		"needs a summary":  func() { kind.Define[options, dog](kind.Trigger, "x", "", nil) },
		"has no help":      func() { kind.Define[noHelp, dog](kind.Trigger, "x", "x", nil) },
		"must be a struct": func() { kind.Define[int, dog](kind.Trigger, "x", "x", nil) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("got %q, want %q", text, want)
				}
			}()
			define()
		}()
	}
}

func TestKinds(t *testing.T) {
	if got := kind.Kinds(); !slices.Equal(got, []kind.Kind{kind.Watcher, kind.Registry, kind.Trigger}) {
		t.Errorf("got %q", got)
	}
}
