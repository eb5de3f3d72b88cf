package service

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk"
)

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
		return "Check the login, password or token below: the other side refuses it. Secrets are read when Dogwatch starts, so restart it after a change."
	case plugin.NotStarted(err), plugin.Exited(err):
		return "Its plugin does not run: the page Plugins says why and can restart it."
	case errors.As(err, &invalid):
		return "Correct what is named above and restart Dogwatch; after a change in its file, dogwatch reload is enough. To find every mistake at once, run: dogwatch config validate"
	case errors.Is(err, sdk.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return "The other side does not answer. Check the address and port, and that the container of Dogwatch reaches it."
	}
	return ""
}
