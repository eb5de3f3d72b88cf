package protocol

import (
	"context"
	"errors"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

// TestErrorKeepsItsRemedy: on the wire an error keeps what to do about it, whatever its kind.
func TestErrorKeepsItsRemedy(t *testing.T) {
	for name, kind := range map[string]error{
		"invalid": sdk.Invalid("url", "wrong"), "limited": sdk.RateLimited(0, errors.New("slow")),
		"unauthorized": sdk.ErrUnauthorized,
		"unavailable":  sdk.ErrUnavailable, "not found": sdk.ErrNotFound, "none": errors.New("odd"),
		"cancelled": context.Canceled,
	} {
		for _, remedy := range []string{"", "turn it on"} {
			sent := sdk.WithRemedy(kind, remedy)
			got := DecodeError(t.Context(), EncodeError(sent).Err())
			if got == nil || sdk.Remedy(got) != remedy || got.Error() != kind.Error() || errors.Is(got, ErrGone) {
				t.Errorf("%s with the remedy %q: got %v with %q", name, remedy, got, sdk.Remedy(got))
			}
		}
	}
	if sdk.WithRemedy(nil, "x") != nil || sdk.Remedy(nil) != "" {
		t.Error("no error has a remedy")
	}
}
