package doctor

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk"
)

func TestLease(t *testing.T) {
	for name, c := range map[string]struct {
		lease func(context.Context) (string, bool, error)
		want  Finding
	}{
		"held": {func(context.Context) (string, bool, error) { return "held by a", false, nil }, Finding{"lease", OK, "held by a", ""}},
		"expired": {func(context.Context) (string, bool, error) { return "held by a", true, nil },
			Finding{"lease", Warn, "held by a", "another Dogwatch that waits takes it over; if none does, look at the log of the pod that holds it, and at the clocks"}},
		"denied": {func(context.Context) (string, bool, error) {
			return "", false, sdk.WithRemedy(errors.New("may not"), "add")
		},
			Finding{"lease", Fail, "may not", "add"}},
		"none": {nil, Finding{}},
	} {
		found := Examine(t.Context(), Options{Config: &config.Config{}, Limit: time.Second, Lease: c.lease})
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Subject == "lease" })
		if got := append(found, Finding{})[(i+len(found)+1)%(len(found)+1)]; got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
