package updater

import (
	"context"
	"testing"

	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestPlanLooksUpWithPullSecrets: what an engine pulls an image with is used to look it up, and not passed on to it.
func TestPlanLooksUpWithPullSecrets(t *testing.T) {
	p := &parts{}
	p.pulls = func(_ context.Context, c sdk.Container) sdk.Credentials {
		return sdk.Credentials{Username: "of " + c.Name, Password: "a-pass"}
	}
	f := freshWith(t, p)
	if _, err := f.Plan(t.Context(), Request{Container: p.containers["web"], Kind: operation.Update}); err != nil {
		t.Fatal(err)
	}
	if got := p.pulledBy.Load(); got == nil || got.Username != "of web" {
		t.Errorf("looked up with %v", got)
	}
}
