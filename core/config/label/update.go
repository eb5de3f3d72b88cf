package label

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
	UpdateMajor     = "update.major"
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
