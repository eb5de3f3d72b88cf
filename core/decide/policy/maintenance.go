package policy

// times returns why nothing may happen now, whatever the update is.
func (c *circumstances) times() (held []Reason) {
	if freeze := c.rules.Freeze; freeze.Value != nil {
		frozen, until := freeze.Value.At(c.now)
		c.changes(until)
		if frozen {
			held = append(held, Reason{
				Code: ReasonFreeze, Text: "updates are frozen: " + freeze.Value.String(), Source: freeze.Source, Until: until,
			})
		}
	}
	if window := c.rules.Window; window.Value != nil {
		open, until := window.Value.At(c.now)
		c.changes(until)
		if !open {
			held = append(held, Reason{
				Code: ReasonWindow, Text: "it waits for the next window: " + window.Value.String(),
				Source: window.Source, Until: until,
			})
		}
	}
	return held
}
