package containers

import (
	"context"
	"slices"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// Follow notes which held updates are carried out once what holds them has ended: those that
// were approved or whose rules say so, where their watcher may update. Rules are read only if
// there is such an update.
func (h *Handler) Follow(ctx context.Context, actor auth.Actor, all []Row) {
	waits := func(r Row) bool {
		return r.State == sdk.StateHeld && !r.Until.IsZero() && h.service.UpdatePermission(actor, r.Watcher).Allowed
	}
	var automatic map[string]bool
	for i := range all {
		r := &all[i]
		if !waits(*r) {
			continue
		}
		if automatic == nil && !r.Approved {
			automatic = h.automatic(ctx)
		}
		r.Follows = r.Approved || automatic[r.Key]
	}
}

// automatic returns the containers whose rules have updates carried out.
func (h *Handler) automatic(ctx context.Context) map[string]bool {
	found := map[string]bool{}
	policies, err := h.service.PreviewPolicies(ctx, nil)
	if err != nil {
		h.Log.Warn("the rules of updates cannot be read", "error", err)
		return found
	}
	for _, c := range policies.Now.Containers {
		if slices.ContainsFunc(c.Rules, func(r policypreview.Rule) bool {
			return r.Name == policy.RuleUpdate && r.Value == string(policy.Auto)
		}) {
			found[c.Name] = true
		}
	}
	return found
}
