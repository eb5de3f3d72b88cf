package registryquery

import (
	"context"
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/tag"
)

// TestSelectionIsCancelled while it explains the tags.
func TestSelectionIsCancelled(t *testing.T) {
	for _, explained := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q := Question{Selector: new(tag.Selector), Labels: unblamed{}, Explained: explained}
		q.Container.Image.Tag.Value = "1.25.0"
		if q.selectTags(ctx, []string{"1.26.0"}); !errors.Is(q.Answer.Err, context.Canceled) {
			t.Errorf("explained %t: error %v", explained, q.Answer.Err)
		}
	}
}

// unblamed are labels that are behind no error.
type unblamed struct{ Labels }

func (unblamed) Blame(err error) error { return err }
