// Package tallytest makes containers in every state that they can be in, for tests of what counts them.
package tallytest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// Fleets is how many random fleets a test looks at.
const Fleets = 1000

// at is when everything in a fleet was checked last.
var at = time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)

// Fleet returns the containers of a machine: up to 20 in random states, whether or not they go together.
func Fleet(seed uint64) []sdk.Container {
	r := rand.New(rand.NewPCG(seed, 1))
	fleet := make([]sdk.Container, r.IntN(21))
	for i := range fleet {
		fleet[i] = container(r, fmt.Sprintf("c%02d", i))
	}
	return fleet
}

func container(r *rand.Rand, name string) sdk.Container {
	host := pick(r, "docker.io", "ghcr.io", "quay.io")
	c := sdk.Container{
		ID: "id-" + name, Name: name, Watcher: pick(r, "local", "nas"), Status: "running",
		Image: sdk.Image{Registry: sdk.Registry{Host: host}, Name: "library/" + name,
			Tag: sdk.Tag{Value: "1.0.0", Semver: true}},
		Check: sdk.CheckState{State: pick(r, sdk.CheckOK, sdk.CheckOK, sdk.CheckFailed, sdk.CheckNever,
			sdk.CheckUnknown, ""), At: sdk.TimeOf(at)},
	}
	if c.Check.State == sdk.CheckFailed && r.IntN(4) > 0 || r.IntN(8) == 0 {
		c.Error = &sdk.ContainerError{Message: host + ": " + name, Cause: pick(r, "", host+" does not answer")}
	}
	if r.IntN(4) == 0 {
		c.Check.PostponedUntil, c.Check.PostponedReason = sdk.TimeOf(at.Add(time.Hour)), host+" limits requests"
	}
	if r.IntN(2) == 0 {
		c.UpdateAvailable, c.Result = true, &sdk.Result{Tag: "2.0.0"}
		c.UpdateKind = sdk.UpdateKind{
			Kind: pick(r, sdk.KindTag, sdk.KindDigest), LocalValue: "1.0.0", RemoteValue: "2.0.0",
			SemverDiff: pick(r, sdk.DiffMajor, sdk.DiffMinor, sdk.DiffPatch, sdk.DiffPrerelease, sdk.DiffUnknown, ""),
		}
	}
	if r.IntN(2) == 0 {
		c.Decision = &sdk.Decision{State: pick(r, sdk.StateOffered, sdk.StateHeld, sdk.StateAutomatic, "")}
		if r.IntN(2) == 0 {
			c.Decision.Reasons = []sdk.Reason{{Code: pick(r, sdk.ReasonApproval, "age"), Text: "it waits"}}
		}
	}
	return c
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }
