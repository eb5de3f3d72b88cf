package containers

import (
	"context"
	"net/http"
	"slices"

	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// lookBack is how many deliveries are searched for those of a container.
	lookBack = 500
	// historyLines is how many of them, and of what happened, its page shows.
	historyLines = 12
	// verdictLines is how many tags an explanation shows at once.
	verdictLines = 200
)

// whyView is an explanation as users read it.
type whyView struct {
	// Explanation has in Rules those that labels set; Defaults are the others.
	check.Explanation
	Defaults []defaultRule
	Kept     []check.Verdict
	// More is how many tags are not shown.
	More int
	// Newer says that it is not about what the last check found; nil where it is.
	Newer phrase.Phrase
	// Openings are the next windows for updates, if a rule sets one; NeverOpens says why there is none.
	Openings   []policypreview.Opening
	NeverOpens string
}

// defaultRule is a rule that no label sets.
type defaultRule struct {
	Name string
	Word phrase.Phrase
}

// wordOf is the value of a rule by default.
func wordOf(value string) phrase.Phrase {
	return phrase.Read(value, "every tag of the family of %s", "none", "all")
}

// why explains the tag of a container, and when its updates may be offered.
func (h *Handler) why(ctx context.Context, c sdk.Container) *whyView {
	v := whyOf(h.service.Explain(ctx, c))
	if found, now := c.Result, v.Result; found != nil && now != nil && found.Tag != now.Tag {
		v.Newer = phrase.New("The last check found %s. A check now would find %s, as explained here.", found.Tag, now.Tag)
	}
	policies, err := h.service.PreviewPolicies(ctx, nil)
	if err != nil {
		h.Log.Warn("the next windows of a container cannot be read", "container", event.Subject(c), "error", err)
		return v
	}
	for _, w := range policies.Now.Windows() {
		if slices.Contains(w.Containers, event.Subject(c)) {
			v.Openings, v.NeverOpens = w.Openings, w.NeverOpens
		}
	}
	return v
}

func whyOf(e check.Explanation) *whyView {
	v := &whyView{Explanation: e}
	v.Rules = nil
	for _, r := range e.Rules {
		if r.IsDefault() {
			v.Defaults = append(v.Defaults, defaultRule{r.Name, wordOf(r.Value)})
		} else {
			v.Rules = append(v.Rules, r)
		}
	}
	for _, t := range e.Tags {
		if t.Kept {
			v.Kept = append(v.Kept, t)
		}
	}
	v.More = e.Omitted + max(0, len(e.Tags)-verdictLines)
	v.Tags = e.Tags[:min(len(e.Tags), verdictLines)]
	return v
}

// showWhy renders the explanation, for which a registry may be needed.
func (h *Handler) showWhy(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	if !page.Partial(r) {
		http.Redirect(w, r, h.Path(tabPath(page.PathOf(&rec.Container), tabWhy, "")), http.StatusFound)
		return
	}
	h.Fragment(w, r, "container", "why", h.why(r.Context(), rec.Container))
}
