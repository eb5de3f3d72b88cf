package signedlink

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// longestSnooze bounds the date that the form of a link may ask for.
const longestSnooze = 366 * 24 * time.Hour

// Shown is what the page of a link shows.
type Shown struct {
	Link
	// Container is as it is stored now. It is empty when Known is false.
	Container sdk.Container
	Known     bool
	// MayApprove is whether approval has an effect.
	MayApprove bool
	// Use is when the link was used, for an ErrUsed.
	Use Use
}

// Actor returns who decides with a link, for the log of what was decided.
func (l Link) Actor() string { return event.LinkActor + l.Trigger }

// Show returns what a token stands for, and changes nothing. Next to ErrExpired,
// ErrRevoked, ErrUsed and ErrGone it returns what is known of the link.
func (l *Links) Show(ctx context.Context, token string) (Shown, error) {
	signed, err := verify(l.key, token)
	if err != nil {
		return Shown{}, ErrInvalid
	}
	shown := Shown{Link: signed}
	if err := l.find(ctx, &shown); err != nil {
		return shown, err
	}
	shown.MayApprove = shown.Known && l.opt.MayApprove(&shown.Container)
	// A link that was used says so even after it has expired, as long as that is known.
	var used bool
	if shown.Use, used, err = l.opt.Store.SignedLinkUse(ctx, signed.nonce[:]); err != nil {
		return shown, err
	}
	switch {
	case used:
		return shown, ErrUsed
	case signed.generation != l.generation(signed.Trigger):
		return shown, ErrRevoked
	case !l.opt.Now().Before(signed.Expires):
		return shown, ErrExpired
	case !shown.Known || !offers(&shown.Container, shown.Update):
		return shown, ErrGone
	}
	return shown, nil
}

// maxRenames is how often a container may have been renamed since a link was sent.
const maxRenames = 5

// find finds the container of a link, also if it was renamed since. The update is then one
// of the new name.
func (l *Links) find(ctx context.Context, shown *Shown) (err error) {
	watcher, name, _ := strings.Cut(shown.Update.Subject, "/")
	for range maxRenames {
		if shown.Container, shown.Known = l.opt.Containers.ByName(watcher, name); shown.Known {
			shown.Update.Subject = event.Subject(shown.Container)
			return nil
		}
		if name, err = l.opt.Store.RenamedTo(ctx, watcher, name); err != nil || name == "" {
			return err
		}
	}
	return nil
}

// Redeem decides what a token stands for: action, which may be "" for a link that stands
// for one. A snooze ends at until, or with the next version if that is zero; other
// actions take none. The errors are those of Show, ErrChoice, and those of the choices,
// after which the link can be used again: it is used if and only if the choice is made.
func (l *Links) Redeem(ctx context.Context, token string, action choice.Kind, until time.Time) (Shown, error) {
	l.redeeming.Lock()
	defer l.redeeming.Unlock()
	shown, err := l.Show(ctx, token)
	if err != nil {
		return shown, err
	}
	now := l.opt.Now()
	action = cmp.Or(action, shown.Action)
	if action == choice.Approved {
		if err := choice.Approvable(&shown.Container); err != nil {
			return shown, sdk.WithKind(ErrChoice, err)
		}
	}
	switch {
	case action != shown.Action && shown.Action != Any,
		action != choice.Approved && action != choice.Skip && action != choice.Snooze:
		return shown, sdk.WithKind(ErrChoice, fmt.Errorf("this link does not stand for that: choose one of the buttons"))
	case until.IsZero():
	case action != choice.Snooze:
		return shown, sdk.WithKind(ErrChoice, fmt.Errorf("only a snooze has an end"))
	case !until.After(now):
		return shown, sdk.WithKind(ErrChoice, fmt.Errorf("the snooze would have ended already: choose a later date"))
	case until.After(now.Add(longestSnooze)):
		return shown,
			sdk.WithKind(ErrChoice,
				fmt.Errorf("the snooze would last for more than a year: choose an earlier date, or skip the version"))
	}
	// What is decided must not be lost when the browser is closed.
	ctx = context.WithoutCancel(ctx)
	use := Use{Nonce: shown.nonce[:], Trigger: shown.Trigger, Action: string(action), At: now, Expires: shown.Expires}
	if err := l.opt.Choices.ChooseWith(ctx, use, shown.Actor(), shown.Update.Subject, shown.Update, action,
		until); err != nil {
		return shown, err
	}
	shown.Use = use
	return shown, nil
}

// offers reports whether an update is one that a container has now: what it is
// offered, or the newest version of a level. Tags are of one build, see update.Key.
func offers(c *sdk.Container, key update.Key) bool {
	if !c.UpdateAvailable {
		return false
	}
	now := update.KeyOf(c)
	if now.FromTag != key.FromTag || now.FromDigest != key.FromDigest {
		return false
	}
	if now.SameTarget(key) {
		return true
	}
	if c.Result == nil || c.Result.Levels == nil || key.Kind != sdk.KindTag {
		return false
	}
	levels := c.Result.Levels
	return slices.ContainsFunc([]*sdk.Release{levels.Patch, levels.Minor, levels.Major}, func(r *sdk.Release) bool {
		return r != nil && r.Tag == key.ToTag
	})
}
