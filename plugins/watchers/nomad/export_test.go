package nomad

import "time"

// Hasten shortens the time between two looks at a rollout, and how long it may make no progress.
func (n *Nomad) Hasten(poll, progressDeadline time.Duration) {
	n.poll, n.progressDeadline = poll, progressDeadline
}
