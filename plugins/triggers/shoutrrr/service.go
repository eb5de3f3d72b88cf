package shoutrrr

import (
	"fmt"
	"net/url"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/lark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/signal"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/wecom"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/opsgenie"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ifttt"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/join"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushover"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/sms/twilio"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/generic"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/notifiarr"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/dogwatch/dogwatch/sdk/option"
)

// sender is a service that speaks HTTP through the client it is given.
type sender interface {
	types.Service
	types.HTTPClientSetter
}

// service is what has to be known of a service beside how to make it.
type service struct {
	make func() sender
	// titled says that it has a place of its own for a title.
	titled bool
	// limit is how many bytes a text has at most: as many as the service takes
	// characters, or fewer. Longer ones it would refuse, or cut without a sign.
	limit int
	// address is where the service is, when the library does not know.
	address string
	// shared is 1 when the title counts as a part of the text.
	shared int
}

// long is the limit where none is stated: more than a rendered message ever has.
const long = 64 << 10

// schemes are those of serviceOf, in alphabetical order.
func schemes() []string {
	return []string{
		"bark", "discord", "generic", "googlechat", "gotify", "hangouts", "ifttt", "join", "lark", "matrix", "mattermost", "notifiarr", "ntfy",
		"opsgenie", "pagerduty", "pushbullet", "pushover", "rocketchat", "signal", "slack", "teams", "telegram", "twilio", "wecom", "zulip",
	}
}

// serviceOf returns the service of a scheme. The library knows more: those that
// do not speak HTTP pay no heed to deadlines, and have triggers of their own.
func serviceOf(scheme string) (service, bool) {
	s, known := service{titled: true, limit: long}, true
	switch scheme {
	case "bark":
		s.make, s.limit, s.shared = func() sender { return &bark.Service{} }, 3000, 1 // 4 KB with all that surrounds it
	case "discord":
		s.make, s.limit = func() sender { return cancellable{&discord.Service{}} }, 6000
	case "generic":
		s.make = func() sender { return &generic.Service{} }
	case "googlechat", "hangouts":
		s.make, s.titled, s.limit = func() sender { return &googlechat.Service{} }, false, 4096
	case "gotify":
		s.make = func() sender { return &gotify.Service{} }
	case "ifttt":
		s.make, s.titled = func() sender { return &ifttt.Service{} }, false
	case "join":
		s.make, s.limit, s.shared = func() sender { return &join.Service{} }, 2000, 1 // all of it is in the query
	case "lark":
		s.make, s.limit = func() sender { return &lark.Service{} }, 4096
	case "matrix":
		s.make, s.limit = func() sender { return &matrix.Service{} }, 16<<10 // an event has 64 KB, and the text in two forms
	case "mattermost":
		s.make, s.limit, s.shared = func() sender { return &mattermost.Service{} }, 4000, 1
	case "notifiarr":
		s.make, s.limit = func() sender { return &notifiarr.Service{} }, 1000
	case "ntfy":
		s.make, s.limit = func() sender { return &ntfy.Service{} }, 4095
	case "opsgenie":
		s.make, s.limit = func() sender { return &opsgenie.Service{} }, 15000
	case "pagerduty":
		s.make, s.titled, s.limit = func() sender { return &pagerduty.Service{} }, false, 1024
		s.address = "events.pagerduty.com:443"
	case "pushbullet":
		s.make = func() sender { return &pushbullet.Service{} }
	case "pushover":
		s.make, s.limit = func() sender { return &pushover.Service{} }, 1024
	case "rocketchat":
		s.make, s.titled, s.limit = func() sender { return &rocketchat.Service{} }, false, 5000
	case "signal":
		s.make, s.titled, s.limit = func() sender { return &signal.Service{} }, false, 2000
	case "slack":
		s.make, s.limit = func() sender { return &slack.Service{} }, 8000
	case "teams":
		s.make, s.limit = func() sender { return &teams.Service{} }, 20000
	case "telegram":
		s.make, s.limit, s.shared = func() sender { return &telegram.Service{} }, 4000, 1
	case "twilio":
		s.make, s.limit, s.shared = func() sender { return &twilio.Service{} }, 1590, 1
	case "wecom":
		s.make, s.titled, s.limit = func() sender { return &wecom.Service{} }, false, 2048
	case "zulip":
		s.make, s.limit, s.shared = func() sender { return &zulip.Service{} }, 9900, 1
	default:
		known = false
	}
	return s, known
}

// unknown explains a scheme that is not supported here.
func unknown(scheme string) error {
	switch scheme {
	case "smtp", "mqtt":
		return fmt.Errorf("%s:// is not supported; use the trigger %[1]s", scheme)
	case "mqtts":
		return fmt.Errorf("%s:// is not supported; use the trigger mqtt", scheme)
	case "logger":
		return fmt.Errorf("%s:// is not supported; use the trigger mock", scheme)
	case "script", "xmpp":
		return fmt.Errorf("%s:// is not supported; use the trigger command", scheme)
	}
	// The scheme of a URL that lacks one can be a secret: only a name that is near is repeated.
	if near := option.Suggest(scheme, schemes()); near != "" {
		return fmt.Errorf("no service has this scheme; did you mean %s://?", near)
	}
	return fmt.Errorf("no service has this scheme; a web hook of your own is generic+https://")
}

// cancellable is Discord without its pauses, which ignore the context: the host
// retries, when the rate limit allows it.
type cancellable struct{ *discord.Service }

// Initialize is Discord's, which sets its pauses there.
func (i cancellable) Initialize(u *url.URL, logger types.StdLogger) error {
	err := i.Service.Initialize(u, logger)
	i.Sleeper = noPause{}
	return err
}

type noPause struct{}

func (noPause) Sleep(time.Duration) {}
