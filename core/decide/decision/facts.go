package decision

import (
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// Facts finds out what a decision depends on besides rules and choices.
type Facts struct {
	// Compared compares what a scanner found in a candidate with what runs; nil without a scanner. An update that adds
	// vulnerabilities of at least HoldAdded is held, as the setting HoldSource says.
	Compared   func(c *sdk.Container, to candidate.Candidate) (vulnerability.Summary, bool)
	HoldAdded  vulnerability.Severity
	HoldSource string
	// MayUpdate reports whether a watcher carries out updates, and what remedies that it does not.
	MayUpdate func(watcher string) (may bool, remedy string)
	// Tried returns how an update was tried before that did not work, or that a user rolled back; false for one that
	// was not.
	Tried func(c *sdk.Container, key update.Key) (trial policy.Trial, tried bool)
	// Stopped returns what stopped the stack of a container.
	Stopped func(c *sdk.Container) policy.Stop
}

// Of returns the facts about the update of a container. An image that others build is rebuilt, so nothing was tried;
// and where nothing is carried out that does not matter.
func (f Facts) Of(c sdk.Container) policy.Facts {
	facts := policy.Facts{AgesByDigest: true}
	if f.Compared != nil {
		facts.Compared = func(to candidate.Candidate) (vulnerability.Summary, bool) { return f.Compared(&c, to) }
		facts.HoldAdded, facts.HoldSource = f.HoldAdded, f.HoldSource
	}
	if c.Base != nil {
		facts.Rebuild = true
		return facts
	}
	if facts.MayUpdate, facts.Remedy = f.MayUpdate(c.Watcher); !facts.MayUpdate {
		return facts
	}
	facts.CameBack = func(to candidate.Candidate) (time.Time, bool) {
		trial, tried := f.Tried(&c, KeyOf(&c, to))
		return trial.Ended, tried && trial.Undone == nil
	}
	facts.RolledBack = func(to candidate.Candidate) (policy.Rollback, bool) {
		trial, tried := f.Tried(&c, KeyOf(&c, to))
		if !tried || trial.Undone == nil {
			return policy.Rollback{}, false
		}
		return *trial.Undone, true
	}
	facts.Stopped = func() policy.Stop { return f.Stopped(&c) }
	return facts
}

// KeyOf returns the key of the update of a container to a candidate.
func KeyOf(c *sdk.Container, to candidate.Candidate) update.Key {
	offered := *c
	offered.UpdateKind = sdk.UpdateKind{Kind: to.Kind, LocalValue: c.Watched().Tag.Value, RemoteValue: to.Tag}
	if to.Kind == sdk.KindDigest {
		offered.UpdateKind.LocalValue, offered.UpdateKind.RemoteValue = c.Watched().Digest.Value, to.Digest
	}
	offered.Result = &sdk.Result{Tag: to.Tag, Digest: to.Digest}
	return update.KeyOf(&offered)
}
