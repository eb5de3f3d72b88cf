package doctor

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
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
		e := examination{Options{Config: &config.Config{}, Kernel: func() (string, bool) { return "files by Landlock, version 7", test.files }}}
		e.Config.Plugins.Isolated = test.isolated
		got := e.isolation()
		if len(got) != 1 || got[0].Level != test.level || !strings.HasPrefix(got[0].Detail, test.detail) || (got[0].Remedy == "") != (test.level == OK) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
