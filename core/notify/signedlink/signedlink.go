// Package signedlink makes and redeems the signed links of messages, with which a reader
// approves, skips or snoozes the update that the message is about, without a login.
//
// A link is good for one choice about one update, once, until it expires or is
// revoked. It is signed with a key of the store and stands for itself: only the
// links that were used are stored. To show one changes nothing, so programs that
// look at every link of a message do no harm.
package signedlink

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// The reasons for which a link is not accepted. Their texts are for users.
var (
	ErrInvalid = errors.New("this link is not valid: it may be incomplete, or of another Dogwatch")
	ErrExpired = errors.New("this link has expired")
	ErrRevoked = errors.New("this link was revoked")
	ErrUsed    = errors.New("this link was used already")
	ErrGone    = errors.New("the update of this link is no longer offered")
)

// ErrChoice: a choice that a link does not allow, such as a snooze that has ended already.
var ErrChoice = errors.New("this cannot be chosen")

// Use is what became of a link that was used.
type Use = choice.SignedLinkUse

// Store keeps what must outlive the process.
type Store interface {
	// SignedLinkKey returns the key that signs links. It stores fresh and returns it if there is none.
	SignedLinkKey(ctx context.Context, fresh []byte) ([]byte, error)
	// SignedLinkGenerations returns how often links were revoked, by trigger; "" is of all triggers.
	SignedLinkGenerations(ctx context.Context) (map[string]uint64, error)
	// RevokeSignedLinks counts one revocation more and appends events, in one transaction.
	RevokeSignedLinks(ctx context.Context, trigger string, ev ...event.Event) error
	// SignedLinkUse returns the use of a link, if it was used.
	SignedLinkUse(ctx context.Context, nonce []byte) (Use, bool, error)
	// RenamedTo returns the name that a container got when it lost a name; "" when that is not known.
	RenamedTo(ctx context.Context, watcher, name string) (string, error)
}

// Containers gives what is stored now.
type Containers interface {
	ByName(watcher, name string) (sdk.Container, bool)
}

// Choices records what users decide.
type Choices interface {
	// ChooseWith records a choice about an update in the place of one that was made before, and
	// the use of the link with which it is made: both, or neither. A zero until ends a snooze
	// with the next version.
	ChooseWith(ctx context.Context, link Use, actor, subject string, key update.Key, kind choice.Kind,
		until time.Time) error
}

// Options are what Links need.
type Options struct {
	// URL is the address under which users reach the server.
	URL *url.URL
	// Expiry is for how long a link is good.
	Expiry     time.Duration
	Store      Store
	Containers Containers
	Choices    Choices
	// MayApprove reports whether approval of the update of a container has an effect; nil for always.
	MayApprove func(c *sdk.Container) bool
	Now        func() time.Time
}

// Links makes and redeems links. Its methods may be called concurrently.
type Links struct {
	opt Options
	key []byte

	mu          sync.Mutex // of generations
	generations map[string]uint64
	// redeeming is held while a link is used, so that none is used twice.
	redeeming sync.Mutex
}

// New reads the key, and makes one if there is none.
func New(ctx context.Context, opt Options) (*Links, error) {
	fresh := make([]byte, keySize)
	rand.Read(fresh) // never fails
	key, err := opt.Store.SignedLinkKey(ctx, fresh)
	if err != nil {
		return nil, err
	}
	generations, err := opt.Store.SignedLinkGenerations(ctx)
	if err != nil {
		return nil, err
	}
	if opt.MayApprove == nil {
		opt.MayApprove = func(*sdk.Container) bool { return true }
	}
	return &Links{opt: opt, key: key, generations: generations}, nil
}

// Enabled returns true.
func (l *Links) Enabled() bool { return true }

// Path is where the page of a link is, below the address of the server; the token follows.
const Path = "/decide/"

// SampleToken stands in the links of sample messages, with which nothing is decided.
const SampleToken = "sample"

// For returns the links about the update of a container, for a message of a trigger.
// It returns nil when there is nothing to decide.
func (l *Links) For(triggerID string, c *sdk.Container) []trigger.Action {
	if !c.UpdateAvailable || c.UpdateKind.Kind != sdk.KindTag && c.UpdateKind.Kind != sdk.KindDigest {
		return nil
	}
	signed := Link{
		Update: update.KeyOf(c), Trigger: triggerID, generation: l.generation(triggerID),
		Expires: l.opt.Now().Add(l.opt.Expiry).UTC().Truncate(time.Second),
	}
	return l.actions(c.ID, l.opt.MayApprove(c), func(kind choice.Kind) string {
		one := signed
		one.Action = kind
		rand.Read(one.nonce[:]) // never fails
		return one.sign(l.key)
	})
}

// Sample returns links for a sample message: they show that the page can be reached.
func (l *Links) Sample(c *sdk.Container) []trigger.Action {
	return l.actions(c.ID, true, func(choice.Kind) string { return SampleToken })
}

func (l *Links) actions(containerID string, mayApprove bool, token func(choice.Kind) string) []trigger.Action {
	var all []trigger.Action
	for _, a := range []struct {
		kind    choice.Kind
		sdkKind string
		label   string
	}{{choice.Approved, trigger.ActionApprove, "Approve"}, {choice.Skip, trigger.ActionSkip, "Skip"},
		{choice.Snooze, trigger.ActionSnooze, "Snooze"}, {Any, trigger.ActionDecide, "Decide"}} {
		if a.kind == choice.Approved && !mayApprove {
			continue
		}
		address := strings.TrimSuffix(l.opt.URL.String(), "/") + Path + token(a.kind)
		all = append(all, trigger.Action{ContainerID: containerID, Kind: a.sdkKind, Label: a.label, URL: address})
	}
	return all
}

// generation counts the revocations that apply to a trigger. It only grows, so that
// of two links those that were made before a revocation have a smaller one.
func (l *Links) generation(triggerID string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.generations[""] + l.generations[triggerID]
}

// Revoke makes all links so far useless that are in messages of a trigger, or in any
// if triggerID is "". The events are stored with it.
func (l *Links) Revoke(ctx context.Context, triggerID string, ev ...event.Event) error {
	if err := l.opt.Store.RevokeSignedLinks(ctx, triggerID, ev...); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generations[triggerID]++
	return nil
}
