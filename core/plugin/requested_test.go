package plugin

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestRequestedCapabilities: of what a type says of itself, some it asks for, which depends on its kind.
func TestRequestedCapabilities(t *testing.T) {
	all := []string{kind.CapEngine, kind.CapFiles, kind.CapCredentials, kind.CapProbe, kind.CapUpdate, kind.CapStateStream}
	for k, want := range map[kind.Kind][]string{
		kind.Watcher: all[:2], kind.Registry: all[:2],
		kind.Trigger: {kind.CapEngine, kind.CapFiles, kind.CapCredentials, kind.CapUpdate},
	} {
		if got := (&Supervisor{}).requested(kind.Type{Kind: k, Capabilities: all}); !slices.Equal(got, want) {
			t.Errorf("a %s asks for %q, want %q", k, got, want)
		}
	}
	if got := (&Supervisor{bundle: bundle{builtin: true}}).requested(kind.Type{
		Kind: kind.Trigger, Capabilities: all,
	}); len(got) > 0 {
		t.Errorf("what is built in asks for %q", got)
	}
}
