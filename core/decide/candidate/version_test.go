package candidate

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestVersionOfHostileLabels(t *testing.T) {
	for text, want := range map[string]string{
		"1.27.3": "1.27.3", "v2.0.0-rc.1+build_5": "v2.0.0-rc.1+build_5", "2024.11.0": "2024.11.0", "": "",
		"<b>1.0</b>": "", "1.0\x1b[31m": "", "1.0\n": "", "latest and greatest": "", "main": "", "nightly": "",
		"7e3f2a1b": "", "0123abcdef": "", "-1": "", strings.Repeat("1", 65): "", "1\u202e0": "",
	} {
		if got := Version(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestRunningVersion(t *testing.T) {
	for _, test := range []struct{ image, refName, version, want string }{
		{"library/nginx", "", "1.27.2", "1.27.2"},
		{"team/app", "ubuntu", "22.04", ""},               // inherited
		{"library/mariadb", "ubuntu", "11.4.2", "11.4.2"}, // of its own
		{"library/ubuntu", "ubuntu", "22.04", "22.04"},
		{"team/app", "main", "3.1", "3.1"},
		{"team/app", "", "", ""},
	} {
		c := sdk.Container{
			Image:  sdk.Image{Name: test.image},
			Labels: map[string]string{versionLabel: test.version, refNameLabel: test.refName},
		}
		if got := RunningVersion(&c); got != test.want {
			t.Errorf("%+v gives %q", test, got)
		}
	}
}

func TestRebuiltDiff(t *testing.T) {
	for _, test := range []struct{ running, offered, want string }{
		{"1.27.2", "1.27.3", sdk.DiffPatch}, {"1.27.2", "v1.28.0", sdk.DiffMinor}, {"1.27.2", "2.0.0", sdk.DiffMajor},
		{"1.27.2", "1.27.2", ""}, {"", "1.27.3", ""}, {"1.27.2", "", ""}, {"main", "nightly", ""},
	} {
		if got := Diff(test.running, test.offered); got != test.want {
			t.Errorf("%s to %s is %q, want %q", test.running, test.offered, got, test.want)
		}
	}
}
