package words

import (
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/budget"
)

// BudgetUsed says how many requests were made to a host: "61 of 100 requests in 6 h used".
func BudgetUsed(f budget.Forecast) phrase.Phrase { return phrase.Translated(f.Brief(), used(f)) }

// Budget is BudgetUsed with what the host reports, and what the next checks want of that.
func Budget(f budget.Forecast) phrase.Phrase {
	parts := []phrase.Phrase{used(f)}
	if f.Estimated {
		parts[0] = phrase.New("%s (one for each question, as the plugin does not count them)", parts[0])
	}
	if f.Reported.Requests > 0 && !f.Reported.Pulls {
		parts = append(parts,
			phrase.New("the host reports %d of %s left", f.LeftAsReported(), allowance(f.Reported.Allowance)))
	}
	next := phrase.Count(f.Next, "request")
	switch {
	case f.Spreads():
		parts = append(parts,
			phrase.New("the next checks need about %s, of which %d are left for later ones", next, f.Next-f.Left()))
	case !f.Limited():
		parts = append(parts, phrase.New("the next checks need about %s", next), phrase.New("no limit is set"))
	default:
		parts = append(parts, phrase.New("the next checks need about %s", next))
	}
	return phrase.Translated(f.String(), phrase.Join("; ", parts...))
}

func used(f budget.Forecast) phrase.Phrase {
	said := phrase.New("%s in the last hour", phrase.Count(f.Used, "request"))
	if f.Allowance.Requests > 0 {
		said = phrase.New("%d of %s used", f.Used, allowance(f.Allowance))
	}
	if f.Estimated {
		return phrase.New("about %s", said)
	}
	return said
}

func allowance(a budget.Allowance) phrase.Phrase {
	if a.Per == 0 {
		return phrase.Count(a.Requests, "request")
	}
	return phrase.New("%s in %s", phrase.Count(a.Requests, "request"), budget.Length(a.Per))
}
