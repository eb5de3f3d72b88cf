package component

import (
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestPullSecretsAreUsedByOption: a watcher is asked for them where its type knows some and the option says so. Here no
// plugin runs, so that asking fails.
func TestPullSecretsAreUsedByOption(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities []string
		option       any // nil for none
		asked        bool
	}{
		"allowed":                       {[]string{kind.CapPullSecrets}, true, true},
		"not allowed":                   {[]string{kind.CapPullSecrets}, false, false},
		"without the option":            {[]string{kind.CapPullSecrets}, nil, false},
		"a text":                        {[]string{kind.CapPullSecrets}, "true", false},
		"an option of something else":   {nil, true, false},
		"a plugin from before it could": {[]string{kind.CapWatch, kind.CapUpdate}, true, false},
	} {
		w := &Watcher{Component: Component{Capabilities: c.capabilities, Options: option.Values{}}}
		if c.option != nil {
			w.Options["pullsecrets"] = c.option
		}
		if found, err := w.PullCredentials(t.Context(), []string{"c1"}); (err != nil) != c.asked || len(found) > 0 {
			t.Errorf("%s: %v, %v; it is asked: want %v", name, found, err, c.asked)
		}
	}
}
