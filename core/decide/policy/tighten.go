package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// tightenable are the rules that a layer may tighten.
var tightenable = [...]string{RuleUpdate, RuleThreshold, RuleMinAge}

// Tighten returns rules with those of a layer that is trusted with nothing else than to make
// less happen: a mode other than Auto in the place of Auto, a threshold that lets only
// versions through that the one of r lets through too, and a longer age. What else the layer
// asks for has no effect, and is added to Ignored unless it is what r says anyway.
func (r Rules) Tighten(layer Layer) Rules {
	r.Ignored = slices.Clone(r.Ignored)
	for _, name := range append(RuleNames(), RuleZone) {
		text := strings.TrimSpace(layer.Values[name])
		if text == "" {
			continue
		}
		tight, source := r, layer.Source(name)
		why := onlyOperator
		if slices.Contains(tightenable[:], name) {
			why = ""
			if err := tight.Set(name, text, source, nil); err != nil {
				why = err.Error()
			}
		}
		why = cmp.Or(why, r.loosened(tight, name))
		switch {
		case why != "":
			r.Ignored = append(r.Ignored, Problem{Source: source, Text: source + ": ignored: " + why})
		case tight.loosened(r, name) != "": // else it says the same
			tight.ownMode = cmp.Or(r.ownMode, r.Mode.Value)
			r = tight
		}
	}
	return r
}

const onlyOperator = "only the operator may say this"

// loosened says why a rule of other would let more happen than that of r; "" if it does not.
func (r Rules) loosened(other Rules, name string) string {
	const over = "only the operator may replace %s (%s) by %s"
	switch {
	case name == RuleUpdate && other.Mode.Value != r.Mode.Value && r.Mode.Value != Auto:
		// Triggers that act need no approval with notify, and with approve users are asked for it.
		return fmt.Sprintf(over, r.Mode.Value, r.Mode.Source, other.Mode.Value)
	case name == RuleThreshold && !within(other.Threshold.Value, r.Threshold.Value):
		return fmt.Sprintf(over, r.Threshold.Value, r.Threshold.Source, other.Threshold.Value)
	case name == RuleMinAge && other.MinAge.Value < r.MinAge.Value:
		return fmt.Sprintf(over, FormatAge(r.MinAge.Value), r.MinAge.Source, FormatAge(other.MinAge.Value))
	}
	return ""
}

// within reports whether a threshold lets nothing through that another holds back.
func within(threshold, other string) bool {
	for _, kind := range []string{sdk.KindTag, sdk.KindDigest} {
		for _, diff := range []string{sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, sdk.DiffUnknown, ""} {
			if Passes(threshold, kind, diff) && !Passes(other, kind, diff) {
				return false
			}
		}
	}
	return true
}
