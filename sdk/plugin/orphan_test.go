package plugin

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestOrphanedNoticesNewParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		parent := func() int {
			if time.Since(start) > 10*time.Second {
				return 1
			}
			return 42
		}
		if !orphaned(t.Context(), parent) {
			t.Error("the new parent was not noticed")
		}
		if took := time.Since(start); took > 11*time.Second {
			t.Errorf("it took %s to notice", took-10*time.Second)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if orphaned(ctx, func() int { return 42 }) {
			t.Error("the same parent is taken for another")
		}
	})
}
