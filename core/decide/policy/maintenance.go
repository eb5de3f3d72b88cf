package policy

import "time"

// times returns why nothing may happen now, whatever the update is, which is held until a time for other reasons.
func (c *circumstances) times(heldUntil time.Time) (held []Reason) {
	if freeze := c.rules.Freeze; freeze.Value != nil {
		frozen, until := freeze.Value.At(c.now)
		c.changes(until)
		if frozen {
			held = append(held, Reason{
				Code: ReasonFreeze, Text: "updates are frozen (" + freeze.Value.String() + ")", Source: freeze.Source, Until: until,
			})
		}
	}
	if window := c.rules.Window; window.Value != nil {
		open, until := window.Value.At(c.now)
		c.changes(until)
		if !open {
			text := "it waits for the next update window (" + window.Value.String() + ")"
			if !until.IsZero() && heldUntil.After(until) { // the next window opens too early
				text = "it then waits for an update window (" + window.Value.String() + ")"
			}
			held = append(held, Reason{Code: ReasonWindow, Text: text, Source: window.Source, Until: until})
		}
	}
	return held
}
