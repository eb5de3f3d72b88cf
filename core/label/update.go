package label

import "slices"

// The labels about updates, without prefix. They exist under our prefix only.
const (
	ProbeHTTP     = "probe.http"
	ProbeTCP      = "probe.tcp"
	ProbeCommand  = "probe.command"
	ProbeWindow   = "probe.window"
	ProbeInterval = "probe.interval"
	// UpdateAuto is false for a container that is updated only when a user asks.
	UpdateAuto        = "update.auto"
	UpdateKeep        = "update.keep"
	UpdateAcknowledge = "update.acknowledge"
	UpdateStopSignal  = "update.stopsignal"
	HookPre           = "hook.pre"
	HookPost          = "hook.post"
	HookTimeout       = "hook.timeout"
)

var updateNames = [...]string{
	ProbeHTTP, ProbeTCP, ProbeCommand, ProbeWindow, ProbeInterval, UpdateAuto, UpdateKeep, UpdateAcknowledge, UpdateStopSignal,
	HookPre, HookPost, HookTimeout,
}

// of returns the labels that a prefix has, without it.
func of(prefix string) []string {
	if prefix == WUDPrefix {
		return names[:]
	}
	return slices.Concat(names[:], updateNames[:])
}
