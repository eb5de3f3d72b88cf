package check

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestVersionOfHostileLabels(t *testing.T) {
	for text, want := range map[string]string{
		"1.27.3": "1.27.3", "v2.0.0-rc.1+build_5": "v2.0.0-rc.1+build_5", "2024.11.0": "2024.11.0", "": "",
		"<b>1.0</b>": "", "1.0\x1b[31m": "", "1.0\n": "", "latest and greatest": "", "main": "", "nightly": "",
		"7e3f2a1b": "", "0123abcdef": "", "-1": "", strings.Repeat("1", 65): "", "1\u202e0": "",
	} {
		if got := versionOf(text); got != want {
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
		if got := runningVersion(&c); got != test.want {
			t.Errorf("%+v gives %q", test, got)
		}
	}
}

func TestRebuiltDiff(t *testing.T) {
	for _, test := range []struct{ running, offered, want string }{
		{"1.27.2", "1.27.3", sdk.DiffPatch}, {"1.27.2", "v1.28.0", sdk.DiffMinor}, {"1.27.2", "2.0.0", sdk.DiffMajor},
		{"1.27.2", "1.27.2", ""}, {"", "1.27.3", ""}, {"1.27.2", "", ""}, {"main", "nightly", ""},
	} {
		if got := rebuiltDiff(test.running, test.offered); got != test.want {
			t.Errorf("%s to %s is %q, want %q", test.running, test.offered, got, test.want)
		}
	}
}

// A rebuilt tag has the step between the versions of its images.
func TestRebuiltTagHasItsStep(t *testing.T) {
	for _, test := range []struct{ running, offered, want string }{{"1.27.2", "1.28.0", sdk.DiffMinor},
		{"", "1.28.0", ""}, {"1.27.2", "", ""}} {
		c := sdk.Container{
			Image: sdk.Image{
				ID: "sha256:a", Tag: sdk.Tag{Value: "latest"}, Version: test.running,
				Digest: sdk.Digest{Watch: true, Repo: "sha256:old"},
			},
		}
		r := response{digest: &digestResponse{remote: "sha256:new", version: test.offered}}
		after := withResponse(c, containerLabels{}, r, sdk.Time{})
		s := target{response: r}
		found := s.candidates(after.Image, policy.Found{}, time.Time{})
		offer(&after, found.Candidates[0], found.From)
		if after.UpdateKind.Kind != sdk.KindDigest || after.UpdateKind.SemverDiff != test.want ||
			after.Result.Version != test.offered {
			t.Errorf("%+v gives %+v of %+v", test, after.UpdateKind, after.Result)
		}
		if passes := policy.Passes("patch", after.UpdateKind.Kind, after.UpdateKind.SemverDiff); passes != (test.want == "") {
			t.Errorf("%+v passes the threshold patch: %v", test, passes)
		}
	}
}
