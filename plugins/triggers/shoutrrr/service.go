package shoutrrr

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
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

// schemes are those of services, in alphabetical order.
func schemes() []string { return slices.Sorted(maps.Keys(services())) }

func serviceOf(scheme string) (service, bool) {
	s, known := services()[scheme]
	return s, known
}

// services returns the services by their schemes. The library knows more: those that
// do not speak HTTP pay no heed to deadlines, and have triggers of their own.
func services() map[string]service {
	return map[string]service{
		// bark takes 4 KB with all that surrounds it.
		"bark":       {make: func() sender { return &bark.Service{} }, titled: true, limit: 3000, shared: 1},
		"discord":    {make: func() sender { return cancellable{&discord.Service{}} }, titled: true, limit: 6000},
		"generic":    {make: func() sender { return &generic.Service{} }, titled: true, limit: long},
		"googlechat": {make: func() sender { return &googlechat.Service{} }, limit: 4096},
		"hangouts":   {make: func() sender { return &googlechat.Service{} }, limit: 4096},
		"gotify":     {make: func() sender { return &gotify.Service{} }, titled: true, limit: long},
		"ifttt":      {make: func() sender { return &ifttt.Service{} }, limit: long},
		// All of a message for join is in the query.
		"join": {make: func() sender { return &join.Service{} }, titled: true, limit: 2000, shared: 1},
		"lark": {make: func() sender { return &lark.Service{} }, titled: true, limit: 4096},
		// An event of matrix has 64 KB, and the text in two forms.
		"matrix":     {make: func() sender { return &matrix.Service{} }, titled: true, limit: 16 << 10},
		"mattermost": {make: func() sender { return &mattermost.Service{} }, titled: true, limit: 4000, shared: 1},
		"notifiarr":  {make: func() sender { return &notifiarr.Service{} }, titled: true, limit: 1000},
		"ntfy":       {make: func() sender { return &ntfy.Service{} }, titled: true, limit: 4095},
		"opsgenie":   {make: func() sender { return &opsgenie.Service{} }, titled: true, limit: 15000},
		"pagerduty":  {make: func() sender { return &pagerduty.Service{} }, limit: 1024, address: "events.pagerduty.com:443"},
		"pushbullet": {make: func() sender { return &pushbullet.Service{} }, titled: true, limit: long},
		"pushover":   {make: func() sender { return &pushover.Service{} }, titled: true, limit: 1024},
		"rocketchat": {make: func() sender { return &rocketchat.Service{} }, limit: 5000},
		"signal":     {make: func() sender { return &signal.Service{} }, limit: 2000},
		"slack":      {make: func() sender { return &slack.Service{} }, titled: true, limit: 8000},
		"teams":      {make: func() sender { return &teams.Service{} }, titled: true, limit: 20000},
		"telegram":   {make: func() sender { return &telegram.Service{} }, titled: true, limit: 4000, shared: 1},
		"twilio":     {make: func() sender { return &twilio.Service{} }, titled: true, limit: 1590, shared: 1},
		"wecom":      {make: func() sender { return &wecom.Service{} }, limit: 2048},
		"zulip":      {make: func() sender { return &zulip.Service{} }, titled: true, limit: 9900, shared: 1},
	}
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
