package service

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestRemedyFollowsTheKindOfTheError(t *testing.T) {
	s := &Service{opt: Options{Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }}}
	odd := errors.New("401 unauthorized, says a text that nobody may guess from")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"none":             {nil, ""},
		"of no kind":       {odd, ""},
		"unauthorized":     {fmt.Errorf("trigger.smtp.main: %w", sdk.WithKind(sdk.ErrUnauthorized, odd)), "refuses the login"},
		"rate limited":     {sdk.RateLimited(time.Minute, odd), "asks for a pause"},
		"unavailable":      {sdk.WithKind(sdk.ErrUnavailable, odd), "does not answer"},
		"invalid":          {sdk.Invalid("port", "want a whole number"), "Correct what is named above"},
		"with its own one": {sdk.WithRemedy(sdk.WithKind(sdk.ErrUnavailable, odd), "turn hunter2 on"), "turn *** on"},
	} {
		if got := s.remedy(c.err); (c.want == "") != (got == "") ||
			!strings.HasPrefix(got, c.want) && !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
