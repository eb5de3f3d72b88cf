package doctor

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
)

func TestIsolationSaysWhatTheKernelHas(t *testing.T) {
	for name, test := range map[string]struct {
		isolated, files bool
		level           Level
		detail          string
	}{
		"all":         {true, true, OK, "the kernel restricts files by Landlock, version 7"},
		"no Landlock": {true, false, Warn, "the kernel restricts files by Landlock, version 7"},
		"off":         {false, true, Warn, "off: executables"},
	} {
		e := examination{Options{
			Config: &config.Config{}, Kernel: func() (string, bool) { return "files by Landlock, version 7", test.files },
		}}
		e.Config.Plugins.Isolated = test.isolated
		got := e.isolation()
		if len(got) != 1 || got[0].Level != test.level || !strings.HasPrefix(got[0].Detail, test.detail) ||
			(got[0].Remedy == "") != (test.level == OK) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestMissingGrantsAreFound: a plugin that asks for what it is not granted may fail for that, and the way to grant it
// is said.
func TestMissingGrantsAreFound(t *testing.T) {
	f := &fake{
		bundles: []plugin.Status{{
			Name: "swarm", State: plugin.Running, Requested: []string{"engine", "files"}, Grants: []string{"files"},
		}},
	}
	e := examination{Options{Config: &config.Config{}, Installation: f, Kernel: func() (string, bool) { return "", true }}}
	e.Config.Plugins.Isolated = true
	var warned []Finding
	for _, found := range e.plugins(t.Context()) {
		if found.Level == Warn {
			warned = append(warned, found)
		}
	}
	if len(warned) != 1 ||
		!strings.HasPrefix(warned[0].Detail, "asks for engine (your container engine, and with it the machine)") ||
		!strings.Contains(warned[0].Remedy, "dogwatch plugin grants swarm --grant engine") {
		t.Errorf("found %+v", warned)
	}
}
