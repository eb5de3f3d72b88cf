package registryquery

import (
	"strings"
	"testing"
	"time"
)

// TestSharedResponsesAreBounded keeps no more than maxShared bytes, and nothing beyond ShareTime.
func TestSharedResponsesAreBounded(t *testing.T) {
	s := sharing[[]string]{size: sizeOfTags}
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	large := []string{strings.Repeat("x", maxShared/2)}
	asked := 0
	ask := func(key string) {
		tags, err := s.do(t.Context(), key, now, now, func() ([]string, error) { asked++; return large, nil })
		if err != nil || len(tags) != 1 {
			t.Errorf("%s: %d tags, %v", key, len(tags), err)
		}
	}
	for range 2 {
		for _, key := range []string{"a", "b"} { // b does not fit beside a
			ask(key)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3: once for a, twice for b", asked)
	}
	if s.kept > maxShared {
		t.Errorf("%d bytes are kept, at most %d may be", s.kept, maxShared)
	}
	s.expire(now.Add(time.Nanosecond))
	if s.kept != 0 || len(s.calls) != 0 {
		t.Errorf("%d bytes of %d responses are kept beyond their time", s.kept, len(s.calls))
	}
}
