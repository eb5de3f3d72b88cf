package service

import (
	"context"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/sdk"
)

// LogLevel returns the least severe level that is logged.
func (s *Service) LogLevel() string { return s.opt.Log.GetLevel().String() }

// SetLogLevel changes the log level at once, until the next start, and records who
// did so in the log of events. Plugins need not know: they send what they log from
// debug on, and the host leaves out what is not wanted. The error is an
// *sdk.InvalidError when there is no such level.
func (s *Service) SetLogLevel(ctx context.Context, actor auth.Actor, name string) error {
	if err := allow(actor, auth.Write, "change the log level"); err != nil {
		return err
	}
	to, err := logging.ParseLevel(name)
	if err != nil || name == "" {
		return sdk.Invalid("level", "want trace, debug, info, warn or error")
	}
	s.leveling.Lock()
	defer s.leveling.Unlock()
	from := s.opt.Log.GetLevel()
	if from == to {
		return nil
	}
	changed := event.Setting{From: from.String(), To: to.String(), User: actor.User, Address: actor.ClientAddress()}
	log := func() {
		s.log.Info("the log level changes", "from", changed.From, "to", changed.To, "user", changed.User, "address",
			changed.Address)
	}
	// Logged at the more verbose of the two levels, where it is more likely to be seen.
	if to > from {
		log()
	}
	s.opt.Log.SetLevel(to)
	if to < from {
		log()
	}
	s.auditSetting(ctx, "log.level", changed)
	return nil
}
