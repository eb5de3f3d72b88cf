package plugin

import "errors"

// Rejected is the state of a bundle that cannot be used although it may run: it is no plugin, or its types clash with
// those of others.
const Rejected State = "rejected"

// rejectedError says why a bundle is rejected.
type rejectedError struct{ reason error }

func (e *rejectedError) Error() string { return e.reason.Error() }
func (e *rejectedError) Unwrap() error { return e.reason }

// refuse handles errors that a restart cannot mend; it reports whether err was one.
func (s *Supervisor) refuse(err error) bool {
	state, refused := refusal(err)
	if refused {
		s.giveUp(state, err)
	}
	return refused
}

// refusal returns the state that an error means for a bundle, and false when it is
// none that only a user can mend.
func refusal(err error) (State, bool) {
	var distrust *untrustedError
	var useless *rejectedError
	switch {
	case errors.As(err, &distrust):
		return Untrusted, true
	case errors.As(err, &useless):
		return Rejected, true
	}
	return "", false
}
