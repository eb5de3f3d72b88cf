package decision

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
)

// postponed is the error of a request that waits for the end of a pause which its host asked for.
type postponed interface {
	error
	Postponed() (reason string, until time.Time)
}

// withAnswer returns the container as it is after a check, with the newest version as its
// update and without links; see judge. A failed check keeps
// the last good result: "not known" is never shown as "up to date".
func withAnswer(c sdk.Container, labels Labels, r candidate.Answer, now sdk.Time) sdk.Container {
	var pause postponed
	if errors.As(r.Err, &pause) {
		return postpone(c, labels, pause)
	}
	c = Detached(c)
	c.Error = nil
	c.Check = sdk.CheckState{State: sdk.CheckOK, At: now}
	if r.Err != nil {
		c.Check.State = sdk.CheckFailed
		complain(&c, r.Err.Error())
		complain(&c, labels.Problems()...)
		c.Error.Cause = causeOf(c.Image.Registry.Host, r.Err)
		return c
	}
	complain(&c, labels.Problems()...)
	img := c.Watched()
	before, result := c.Result, sdk.Result{Tag: img.Tag.Value}
	c.UpdateKind = sdk.UpdateKind{Kind: sdk.KindUnknown}
	c.UpdateAvailable = false
	img.Digest.Value = ""
	if why := uncompared(*img, r); why != "" {
		c.Check.State, c.Check.Reason = sdk.CheckUnknown, why
	}
	if d := r.Digest; d != nil {
		result.Digest, result.Created = d.Remote, d.Created
		img.Digest.Value = d.Remote
		if !d.Same {
			img.Digest.Value = cmp.Or(img.Digest.Repo, img.ID)
			c.UpdateAvailable = true
			result.Version = d.Version
			c.UpdateKind = sdk.UpdateKind{
				Kind: sdk.KindDigest, LocalValue: img.Digest.Value, RemoteValue: d.Remote,
				SemverDiff: candidate.Diff(img.Version, d.Version),
			}
		}
	}
	if r.Selection.Newer {
		result.Tag, result.Version = r.Selection.Tag, ""
		if before != nil && before.Tag == result.Tag {
			result.Created = before.Created // which checks do not fetch; see core/watch/releasedate
		}
		c.UpdateAvailable = true
		c.UpdateKind = sdk.UpdateKind{
			Kind: sdk.KindTag, LocalValue: img.Tag.Value, RemoteValue: result.Tag,
			SemverDiff: labels.Diff(img.Tag.Value, result.Tag),
		}
	}
	c.Result, c.Skipped = &result, r.Skipped
	return c
}

// postpone returns the container as it was: a registry that asks for a pause
// says nothing about it. What was never checked has only its labels to complain of.
func postpone(c sdk.Container, labels Labels, pause postponed) sdk.Container {
	if c.Check.State == sdk.CheckNever {
		c.Error = nil
		complain(&c, labels.Problems()...)
	}
	reason, until := pause.Postponed()
	c.Check.PostponedUntil, c.Check.PostponedReason = sdk.TimeOf(until), reason
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

// causeOf returns what other containers may fail by as well; "" when the error is about one image.
func causeOf(host string, err error) string {
	if reference.IsHub(host) {
		host = "Docker Hub"
	}
	switch {
	case errors.Is(err, sdk.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return host + " is unavailable"
	case errors.Is(err, sdk.ErrUnauthorized):
		return host + " refuses access"
	}
	return ""
}
