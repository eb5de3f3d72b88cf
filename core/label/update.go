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
	UpdateAuto = "update.auto"
	// Policy names the policy whose rules count; those below are rules of one container.
	Policy          = "policy"
	Update          = "update"
	UpdateThreshold = "update.threshold"
	UpdateMinAge    = "update.minage"
	UpdateSecurity  = "update.security"
	UpdateWindow    = "update.window"
	UpdateFreeze    = "update.freeze"
	UpdateSkip      = "update.skip"
	UpdateZone      = "update.zone"

	UpdateKeep        = "update.keep"
	UpdateAcknowledge = "update.acknowledge"
	UpdateStopSignal  = "update.stopsignal"
	HookPre           = "hook.pre"
	HookPost          = "hook.post"
	HookTimeout       = "hook.timeout"
)

// noAge is a minimum age that every version has.
const noAge = "0"

var updateNames = [...]string{
	ProbeHTTP, ProbeTCP, ProbeCommand, ProbeWindow, ProbeInterval, UpdateAuto, UpdateKeep, UpdateAcknowledge, UpdateStopSignal,
	HookPre, HookPost, HookTimeout,
	Policy, Update, UpdateThreshold, UpdateMinAge, UpdateSecurity, UpdateWindow, UpdateFreeze, UpdateSkip, UpdateZone,
}

// of returns the labels that a prefix has, without it.
func of(prefix string) []string {
	if prefix == WUDPrefix {
		return names[:]
	}
	return slices.Concat(names[:], updateNames[:])
}

// delays are the labels of What's Up Docker 9 for the minimum age, without prefix:
// https://github.com/getwud/wud
var delays = [...]string{"watch.delay", "tag.delay"}

// isOf reports whether a prefix has a label of that name.
func isOf(prefix, name string) bool {
	if prefix == WUDPrefix {
		return slices.Contains(names[:], name) || slices.Contains(delays[:], name)
	}
	return slices.Contains(names[:], name) || slices.Contains(updateNames[:], name)
}
