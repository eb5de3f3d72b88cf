package kubernetes

import "time"

// Hasten shortens the time between two looks at a rollout, and how long it may make no progress.
func (k *Kubernetes) Hasten(poll, progressDeadline time.Duration) {
	k.poll, k.progressDeadline = poll, progressDeadline
}
