package policy

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestThresholdVersions: every version and no rebuild; a new image of the same tag that is known
// to be another version is one.
func TestThresholdVersions(t *testing.T) {
	for _, diff := range []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease,
		sdk.DiffUnknown, ""} {
		rebuild := diff == sdk.DiffUnknown || diff == ""
		tag, digest := Passes("versions", sdk.KindTag, diff), Passes("versions", sdk.KindDigest, diff)
		if !tag || digest == rebuild {
			t.Errorf("step %q: tag %t, digest %t", diff, tag, digest)
		}
	}
}

// TestWithoutRebuilds: what is left of a threshold lets no rebuild through, and every version that it let through.
func TestWithoutRebuilds(t *testing.T) {
	for _, threshold := range append(Thresholds(), "") {
		without := WithoutRebuilds(threshold)
		if _, err := oneOf(without, Thresholds()...); err != nil {
			t.Errorf("%q: %v", threshold, err)
		}
		if threshold != "digest" && Passes(without, sdk.KindDigest, sdk.DiffUnknown) {
			t.Errorf("%q becomes %q, which lets rebuilds through", threshold, without)
		}
		for _, diff := range []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffUnknown} {
			if Passes(without, sdk.KindTag, diff) != Passes(threshold, sdk.KindTag, diff) {
				t.Errorf("%q and %q differ about a %s version", threshold, without, diff)
			}
		}
	}
}

func TestMeasuresWhatDependsOnSteps(t *testing.T) {
	for _, threshold := range Thresholds() {
		want := threshold != "all" && threshold != "major" && threshold != "digest"
		if Measures(threshold) != want {
			t.Errorf("%s: %t", threshold, !want)
		}
	}
	var r Rules
	err := r.Set(RuleThreshold, "version", "a label", nil)
	if err == nil || !strings.Contains(err.Error(), "did you mean versions?") {
		t.Error(err)
	}
}
