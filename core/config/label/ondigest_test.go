package label

import (
	"slices"
	"testing"
)

// TestOnDigestOfWUD reads the labels of What's Up Docker 9 about rebuilds, and ours: the most specific one counts.
func TestOnDigestOfWUD(t *testing.T) {
	for _, c := range []struct {
		labels   map[string]string
		on, said bool
	}{
		{nil, false, false},
		{map[string]string{"wud.trigger.ondigest": "false"}, false, true},
		{map[string]string{"wud.trigger.ondigest": "True"}, true, true},
		{map[string]string{"wud.trigger.smtp.ondigest": "true"}, true, true},
		{map[string]string{"wud.trigger.slack.ondigest": "true"}, false, false},
		{map[string]string{"wud.trigger.smtp.other.ondigest": "true"}, false, false},
		{map[string]string{"wud.trigger.ondigest": "true", "wud.trigger.smtp.ondigest": "false"}, false, true},
		{map[string]string{"wud.trigger.smtp.ondigest": "false", "wud.trigger.SMTP.Main.ondigest": "true"}, true, true},
		{map[string]string{"dogwatch.trigger.ondigest": "false", "wud.trigger.smtp.main.ondigest": "true"}, true, true},
		{map[string]string{"dogwatch.trigger.smtp.ondigest": "false", "wud.trigger.smtp.ondigest": "true"}, false,
			true},
		{map[string]string{"dogwatch.trigger.smtp.main.ondigest": " ", "wud.trigger.smtp.main.ondigest": "true"}, true,
			true},
		{map[string]string{"wud.trigger.smtp.main.ondigest": "perhaps", "wud.trigger.ondigest": "true"}, true, true},
	} {
		r := Read(Set{Operator: c.labels}, Options{})
		if on, said := r.OnDigest("smtp.main"); on != c.on || said != c.said {
			t.Errorf("%v: on %t, said %t", c.labels, on, said)
		}
		if len(r.Unknown)+len(r.Notes) > 0 {
			t.Errorf("%v: unknown %q, notes %q", c.labels, r.Unknown, r.Notes)
		}
		image := Read(Set{Image: c.labels}, Options{})
		if _, said := image.OnDigest("smtp.main"); said || c.said && len(image.Ignored) == 0 {
			t.Errorf("%v of an image: said %t, ignored %v", c.labels, said, image.Ignored)
		}
	}
	r := Read(Set{Operator: map[string]string{"wud.trigger.a.b.c.ondigest": "true",
		"dogwatch.trigger..ondigest": "true"}}, Options{})
	if len(r.Notes) != 1 || len(r.Unknown) != 1 {
		t.Errorf("unknown %q, notes %q", r.Unknown, r.Notes)
	}
}

// TestUnknownTriggersOfOnDigest: a label about rebuilds names a trigger or a type that there is.
func TestUnknownTriggersOfOnDigest(t *testing.T) {
	r := Read(Set{Operator: map[string]string{
		"wud.trigger.ondigest": "false", "wud.trigger.smtp.ondigest": "false", "wud.trigger.smtp.main.ondigest": "true",
		"wud.trigger.smtp.mian.ondigest": "true", "dogwatch.trigger.smt.ondigest": "true",
	}}, Options{})
	want := []string{
		`label dogwatch.trigger.smt.ondigest names the trigger "smt", which is not configured`,
		`label wud.trigger.smtp.mian.ondigest names the trigger "smtp.mian", which is not configured: ` +
			`did you mean smtp.main?`,
	}
	if got := UnknownTriggers(r, []string{"smtp.main", "ntfy.phone"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
