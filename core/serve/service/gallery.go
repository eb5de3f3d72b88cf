package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// PluginChange is what is done with the file of a plugin, as the command line has it.
type PluginChange string

// The changes of plugins.
const (
	InstallPlugin  PluginChange = "install"
	UpdatePlugin   PluginChange = "update"
	RollBackPlugin PluginChange = "rollback"
)

// Gallery returns the plugins that can be installed by their names: of the index that is built in, or of the newest
// release, which is asked for over the network. The error is an ErrForbidden where the newest is asked for and the
// actor is no operator; with any other one, which says what of the newest index does not count, the plugins are
// complete.
func (s *Service) Gallery(ctx context.Context, actor auth.Actor, newest bool) ([]install.Offer, error) {
	if s.opt.Installs == nil {
		return nil, nil
	}
	if newest {
		if err := allowOperator(actor, "have the newest list of plugins fetched"); err != nil {
			return nil, err
		}
	}
	all, err := s.opt.Installs.Offers(ctx, newest)
	return all, s.safe(err)
}

// ChangePlugin installs a plugin of the gallery, updates what is installed, or goes back to the version before, has it
// run, and returns what is there then. A new plugin is granted nothing, and an update what was granted before. Who did
// so is recorded in the log of events. The error is an ErrForbidden unless the actor is an operator, and any other one
// when it cannot be done; then what was there is as it was.
func (s *Service) ChangePlugin(
	ctx context.Context, actor auth.Actor, do PluginChange, name string, newest bool,
) (install.Pin, error) {
	if err := allowOperator(actor, "install plugins"); err != nil {
		return install.Pin{}, err
	}
	if s.opt.Installs == nil {
		return install.Pin{}, errors.New("nothing can be installed here")
	}
	before := "not installed"
	for _, st := range s.opt.Installs.Installed() {
		if st.Name == name {
			before = cmp.Or(st.Version, st.Ref)
		}
	}
	pin, err := s.opt.Installs.Change(ctx, do, name, newest)
	if err != nil {
		return install.Pin{}, s.safe(err)
	}
	s.auditPlugin(ctx, actor, "plugin "+name, before, fmt.Sprintf("%s (%s)", cmp.Or(pin.Version, pin.Ref), do))
	return pin, nil
}
