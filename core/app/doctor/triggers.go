package doctor

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/sdk"
)

// triggers reports how each is configured, and whether its service can be reached
// where its plugin can tell; nothing is sent.
func (e *examination) triggers(ctx context.Context) []Finding {
	all := e.Installation.Triggers()
	if len(all) == 0 {
		return one("triggers", Warn, "none is configured: nobody is told of updates",
			"choose one: dogwatch config docs lists them")
	}
	return each(all, func(t Component) []Finding {
		if t.Err != nil || t.Probe == nil {
			return t.triggerFindings("configured")
		}
		return e.within(ctx, t.ID, func(ctx context.Context) []Finding {
			probed, err := t.Probe(ctx)
			if err != nil && ctx.Err() != nil {
				err = fmt.Errorf("no answer of its service within %s", e.Limit)
			}
			if err != nil {
				return append([]Finding{{Subject: t.ID, Level: Fail, Detail: err.Error(), Remedy: sdk.Remedy(err)}},
					t.findings()...)
			}
			return append(t.triggerFindings(probed.Summary), warnings(t.ID, probed)...)
		})
	})
}

// triggerFindings are the findings, and that the trigger is well when there are none.
func (c Component) triggerFindings(well string) []Finding {
	if found := c.findings(); len(found) > 0 {
		return found
	}
	return one(c.ID, OK, well+"; to send a sample: dogwatch plugin test "+c.ID, "")
}

// warnings are those of a probe that succeeded.
func warnings(subject string, probed sdk.ProbeResult) []Finding {
	var found []Finding
	for _, w := range probed.Warnings {
		found = append(found, Finding{Subject: subject, Level: Warn, Detail: w})
	}
	return found
}
