package check

import (
	"strings"
	"testing"
)

// TestLabelsOfUnknownTriggersAreLogged: once, with what was probably meant; none where the triggers are not known.
func TestLabelsOfUnknownTriggersAreLogged(t *testing.T) {
	for _, known := range []func() []string{nil, func() []string { return []string{"smtp.main", "ntfy.phone"} }} {
		w := open(t, func(_ *fixture, o *options) { o.Triggers = known })
		w.hub.tags["library/nginx"] = []string{"1.25.0"}
		c := container("web", "nginx:1.25.0")
		c.Labels = map[string]string{"dogwatch.trigger.include": "smtp.mian:minor, ntfy.phone"}
		w.engine.has(c)
		w.run()
		w.run()
		const said = `label dogwatch.trigger.include names the trigger "smtp.mian", which is not configured: did you mean smtp.main?`
		want := 1
		if known == nil {
			want = 0
		}
		if log := w.log.String(); strings.Count(log, said) != want || strings.Contains(log, "ntfy.phone\", which") {
			t.Errorf("want it %d times: %s", want, log)
		}
	}
}
