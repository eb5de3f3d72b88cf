package service

import (
	"context"
	"fmt"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// SignedLinks are the signed links of messages; see signedlink.Links.
type SignedLinks interface {
	// Enabled reports whether messages have links.
	Enabled() bool
	Revoke(ctx context.Context, triggerID string, ev ...event.Event) error
}

// HasLinks reports whether messages have links.
func (s *Service) HasLinks() bool { return s.opt.Links.Enabled() }

// RevokeSignedLinks makes useless all links that were sent so far in messages of a trigger, such
// as "ntfy.main", or in all messages if triggerID is "". A trigger that is not configured
// any more may have sent some. The error is an ErrForbidden for actors that may not write,
// and an *sdk.InvalidError when no trigger can have this id.
func (s *Service) RevokeSignedLinks(ctx context.Context, actor auth.Actor, triggerID string) error {
	if err := allow(actor, auth.Write, "revoke links"); err != nil {
		return err
	}
	switch {
	case !s.opt.Links.Enabled():
		return signedlink.ErrNone
	case len(triggerID) > maxTriggerID:
		return sdk.Invalid("trigger", "want the id of a trigger, such as ntfy.main")
	case triggerID != "":
		if t, known := s.opt.Components.Trigger(triggerID); known {
			triggerID = t.ID() // as it is configured: ids are compared without regard to case
		}
	}
	e := event.Event{At: s.opt.Now(), Type: event.LinksRevoked, Subject: actor.User, Payload: event.Payload{
		Login: &event.Login{Method: actor.Method, Address: actor.ClientAddress(), Trigger: triggerID}}}
	if err := s.opt.Links.Revoke(ctx, triggerID, e); err != nil {
		return fmt.Errorf("revoke links: %w", err)
	}
	s.log.Info("links revoked", "trigger", triggerID, "actor", actor.User, "address", actor.ClientAddress())
	return nil
}

// maxTriggerID bounds what is stored of a trigger that is not known.
const maxTriggerID = 200
