package service

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// NoPlugin is what to do about a component whose plugin does not run.
const NoPlugin = "Its plugin does not run."

// remedy returns what a user can do about an error of a component: what its plugin
// says, or else what follows from the kind of the error; "" when that says nothing.
func (s *Service) remedy(err error) string {
	var (
		invalid *sdk.InvalidError
		limited *sdk.RateLimitedError
	)
	switch own := sdk.Remedy(err); {
	case own != "":
		return s.opt.Redact(own)
	case errors.As(err, &limited):
		return "The other side asks for a pause. Dogwatch waits and tries again by itself; with a login most registries allow more."
	case errors.Is(err, sdk.ErrUnauthorized):
		return "The other side refuses the login, password or token below. Correct it. After changing an environment variable, recreate the container with `docker compose up -d`; after changing the file, run `dogwatch reload`."
	case plugin.NotStarted(err), plugin.Exited(err):
		return NoPlugin
	case errors.As(err, &invalid):
		return "Correct what is named above. After changing an environment variable, recreate the container with `docker compose up -d`; after changing the file, run `dogwatch reload`."
	case errors.Is(err, sdk.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return "The other side does not answer. Check the address and port, and that the container of Dogwatch reaches it."
	}
	return ""
}

// pluginDown returns the plugin that is named after a type and does not run though it should.
func (s *Service) pluginDown(k kind.Kind, typ string) (plugin.Status, bool) {
	bundle, known := s.opt.Plugins.Bundle(string(k) + "-" + typ)
	if !known {
		return plugin.Status{}, false
	}
	status := bundle.Status()
	return status, !status.State.Well()
}
