package trigger

// The kinds of an Action.
const (
	ActionApprove = "approve" // have this update carried out
	ActionSkip    = "skip"    // not this version
	ActionSnooze  = "snooze"  // not now
	ActionDecide  = "decide"  // any of these, as the page lets the reader choose: for services with room for one link
)

// Action is something that a reader of a message can decide about an update, by
// opening a page of the host that asks for it. Opening the page decides nothing.
type Action struct {
	// ContainerID is a container of the Request.
	ContainerID string
	// Kind is one of the constants, such as ActionApprove. More may be added.
	Kind string
	// Label is the text of a button.
	Label string
	// URL is the page. It is a secret: who has it can decide.
	URL string
}

// ActionsOf returns the actions about a container.
func (r Request) ActionsOf(containerID string) []Action {
	var actions []Action
	for _, a := range r.Actions {
		if a.ContainerID == containerID {
			actions = append(actions, a)
		}
	}
	return actions
}
