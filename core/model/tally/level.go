package tally

import "github.com/dogwatch/dogwatch/sdk"

// Level is the newest version of a step from the one that runs.
type Level struct {
	Step string // sdk.DiffPatch, sdk.DiffMinor or sdk.DiffMajor
	*sdk.Release
}

// Levels returns those of the versions that the last check of a container found, the smallest step first.
func Levels(c *sdk.Container) (all []Level) {
	if c.Result == nil || c.Result.Levels == nil {
		return nil
	}
	l := c.Result.Levels
	for _, level := range []Level{{sdk.DiffPatch, l.Patch}, {sdk.DiffMinor, l.Minor}, {sdk.DiffMajor, l.Major}} {
		if level.Release != nil {
			all = append(all, level)
		}
	}
	return all
}
