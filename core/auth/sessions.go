package auth

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/dogwatch/dogwatch/core/event"
	"github.com/dogwatch/dogwatch/core/store"
)

// Session is somebody who is logged in.
type Session struct {
	// ID stands for it. It is the beginning of its hash, which lets nobody in.
	ID string
	// Method is the way in which the user logged in, such as "basic.ana".
	User, Method string
	// Used is when it was used last, to within five minutes.
	Created, Used, Expires time.Time
	// Own is whether it is the one that asks.
	Own bool
}

// sessionID returns 16 characters that tell a session from the others.
func sessionID(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// Sessions returns the sessions that are good, the one used last first. who asks for them.
func (a *Auth) Sessions(ctx context.Context, who Identity) ([]Session, error) {
	stored, err := a.good(ctx)
	list := []Session{}
	for _, s := range stored {
		list = append(list, Session{
			ID: sessionID(s.Hash), User: s.User, Method: s.Provider, Created: s.Created, Used: s.Used, Expires: s.Expires, Own: bytes.Equal(s.Hash, who.session),
		})
	}
	return list, err
}

func (a *Auth) good(ctx context.Context) ([]store.Session, error) {
	all, err := a.opt.Store.Sessions(ctx)
	var good []store.Session
	for _, s := range all {
		if a.counts(s) {
			good = append(good, s)
		}
	}
	return good, err
}

// EndSession ends a session, of any user, on behalf of an actor. The error wraps
// store.ErrNotFound when there is none of that id.
func (a *Auth) EndSession(ctx context.Context, actor Actor, id string) error {
	all, err := a.good(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if sessionID(s.Hash) == id {
			return a.endOf(ctx, actor, s)
		}
	}
	return fmt.Errorf("session %.20q: %w", id, store.ErrNotFound)
}

// EndOthers ends all sessions but the actor's own.
func (a *Auth) EndOthers(ctx context.Context, actor Actor) error {
	all, err := a.good(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if bytes.Equal(s.Hash, actor.session) {
			continue
		}
		if err := a.endOf(ctx, actor, s); err != nil {
			return err
		}
	}
	return nil
}

func (a *Auth) endOf(ctx context.Context, actor Actor, s store.Session) error {
	if err := a.opt.Store.EndSession(ctx, s.Hash); err != nil {
		return err
	}
	a.append(ctx, event.LoggedOut, s.User, event.Login{Method: s.Provider, By: actor.User, Address: actor.ClientAddress()})
	return nil
}
