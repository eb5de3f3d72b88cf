package decision

import "github.com/dogwatch/dogwatch/sdk"

// Carry copies what was found and decided from one state of a container to another.
func Carry(to, from *sdk.Container) {
	to.Result, to.UpdateAvailable, to.UpdateKind, to.Link = from.Result, from.UpdateAvailable, from.UpdateKind, from.Link
	to.Watched().Digest.Value, to.Skipped = from.Watched().Digest.Value, from.Skipped
	if to.Image.Version == "" && to.Image.Digest.Repo == from.Image.Digest.Repo {
		to.Image.Version = from.Image.Version // which another tag says; see registryquery
	}
	to.Decision, to.IsSnoozed, to.SnoozedUntil = from.Decision, from.IsSnoozed, from.SnoozedUntil
	to.IsCoolingDown, to.CoolingDownUntil, to.Delay = from.IsCoolingDown, from.CoolingDownUntil, from.Delay
}

// Detached returns a container that shares no base with another one.
func Detached(c sdk.Container) sdk.Container {
	if c.Base != nil {
		base := *c.Base
		c.Base = &base
	}
	return c
}
