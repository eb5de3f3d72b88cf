package tally

import (
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestWord(t *testing.T) {
	for kind, want := range map[string]string{
		sdk.KindDigest: "rebuilt", Other: "newer", sdk.DiffMajor: "major", sdk.DiffPrerelease: "prerelease", "": "",
	} {
		if got := Word(kind); got != want {
			t.Errorf("%q: %q, want %q", kind, got, want)
		}
	}
}
