package candidate

import (
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestPin(t *testing.T) {
	const digest = "sha256:1"
	for name, test := range map[string]struct {
		tag, digest string
		pinned      bool
		want        string
	}{
		"a digest alone":   {"", digest, true, digest},
		"a tag and digest": {"1.25.0", digest, false, "1.25.0"},
		"a tag alone":      {"1.25.0", "", false, "1.25.0"},
		"neither":          {"", "", false, ""},
	} {
		img := sdk.Image{Tag: sdk.Tag{Value: test.tag}, Digest: sdk.Digest{Repo: test.digest}}
		if got := Pin(&img); got != test.pinned || img.Tag.Value != test.want || img.Digest.Pinned != test.pinned {
			t.Errorf("%s: %t, %+v", name, got, img)
		}
		if compared := !test.pinned; ComparesVersion(img, true) != compared || ComparesDigest(img, true) != compared ||
			ComparesVersion(img, false) || ComparesDigest(img, false) {
			t.Errorf("%s: what is compared of %+v", name, img)
		}
	}
}
