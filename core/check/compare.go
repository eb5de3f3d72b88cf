package check

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/label"
	"github.com/dogwatch/dogwatch/core/template"
	"github.com/dogwatch/dogwatch/core/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// conclude returns the container as it is after a check. A failed check keeps
// the last good result: "not known" is never shown as "up to date".
func conclude(c sdk.Container, p policy, r response, at sdk.Time) sdk.Container {
	var pause *postponedError
	if errors.As(r.err, &pause) {
		return postpone(c, p, pause)
	}
	c.Error = nil
	c.Check = sdk.CheckState{State: sdk.CheckOK, At: at}
	if r.err != nil {
		c.Check.State = sdk.CheckFailed
		complain(&c, r.err.Error())
		complain(&c, p.wrong...)
		return c
	}
	complain(&c, p.wrong...)
	before, result := c.Result, sdk.Result{Tag: c.Image.Tag.Value}
	c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindUnknown}
	c.UpdateAvailable = false
	c.Image.Digest.Value = ""
	if d := r.digest; d != nil {
		result.Digest, result.Created = d.remote, d.created
		c.Image.Digest.Value = d.remote
		if !d.same {
			c.Image.Digest.Value = cmp.Or(c.Image.Digest.Repo, c.Image.ID)
			c.UpdateAvailable = true
			c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindDigest, LocalValue: c.Image.Digest.Value, RemoteValue: d.remote}
		}
	}
	if r.selection.Newer {
		result.Tag = r.selection.Tag
		if before != nil && before.Tag == result.Tag {
			result.Created = before.Created // which checks do not ask for; see Dater
		}
		c.UpdateAvailable = true
		c.UpdateKind = sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: c.Image.Tag.Value, RemoteValue: result.Tag,
			SemverDiff: p.selector.Diff(c.Image.Tag.Value, result.Tag),
		}
	}
	c.Result = &result
	link(&c, p)
	return c
}

// postpone returns the container as it was: a registry that asks for a pause
// tells nothing about it. What was never checked has only its labels to complain of.
func postpone(c sdk.Container, p policy, pause *postponedError) sdk.Container {
	if c.Check.State == sdk.CheckNever {
		c.Error = nil
		complain(&c, p.wrong...)
	}
	c.Check.PostponedUntil, c.Check.PostponedReason = sdk.TimeOf(pause.until), pause.reason
	return c
}

// complain adds to the container's error.
func complain(c *sdk.Container, problems ...string) {
	if len(problems) == 0 {
		return
	}
	text := strings.Join(problems, "; ")
	if c.Error != nil {
		text = c.Error.Message + "; " + text
	}
	c.Error = &sdk.ContainerError{Message: text}
}

// link renders the link of the running tag and that of the result. A template
// that fails becomes the container's error, and half a link is none.
func link(c *sdk.Container, p policy) {
	c.Link = ""
	if p.link == nil {
		return
	}
	var container any
	var err error
	if slices.Contains(p.link.Names(), "container") {
		container, err = template.Value(*c) // costs more than the rest
	}
	render := func(tag string) (text string) {
		if err != nil {
			return ""
		}
		major, minor, patch, prerelease := p.selector.Parts(tag)
		text, err = p.link.Render(map[string]any{
			"container": container, "original": tag, "raw": tag, "transformed": p.selector.Transform(tag),
			"major": major, "minor": minor, "patch": patch, "prerelease": prerelease,
		})
		return text
	}
	running, newest := render(c.Image.Tag.Value), render(c.Result.Tag)
	if err != nil {
		complain(c, "label "+p.source(label.LinkTemplate)+": "+err.Error())
		return
	}
	c.Link, c.Result.Link = running, newest
}

// transition names what a check changed about a container, if anything. That
// a failed check failed again, if only for another reason, is no change.
func transition(before, after sdk.Container) (event.Type, bool) {
	switch {
	case after.UpdateAvailable && !update.Equal(&before, &after):
		return event.UpdateFound, true
	case before.UpdateAvailable && !after.UpdateAvailable:
		return event.UpdateCleared, true
	case before.Check.Postponed() != after.Check.Postponed():
		return event.ContainerChanged, true
	case before.Check.State == sdk.CheckNever && after.Check.State == sdk.CheckOK && after.Error == nil:
		return "", false // that it was added has been told
	case before.Check.State != after.Check.State:
		return event.ContainerChanged, true
	case before.UpdateKind.SemverDiff != after.UpdateKind.SemverDiff: // measured anew: the update is the same
		return event.ContainerChanged, true
	case after.Check.State == sdk.CheckOK && message(before) != message(after):
		return event.ContainerChanged, true
	}
	return "", false
}

// aspect names what alone differs between a container before and after a check,
// where there is a name for it.
func aspect(before, after sdk.Container) event.Aspect {
	if before.Check.Postponed() != after.Check.Postponed() && before.Check.State == after.Check.State &&
		message(before) == message(after) && before.UpdateAvailable == after.UpdateAvailable {
		return event.Postponed
	}
	return ""
}

func message(c sdk.Container) string {
	if c.Error == nil {
		return ""
	}
	return c.Error.Message
}
