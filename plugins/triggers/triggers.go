// Package triggers lists the triggers that come with Dogwatch.
package triggers

import (
	"github.com/dogwatch/dogwatch/plugins/triggers/apprise"
	"github.com/dogwatch/dogwatch/plugins/triggers/command"
	"github.com/dogwatch/dogwatch/plugins/triggers/discord"
	"github.com/dogwatch/dogwatch/plugins/triggers/docker"
	"github.com/dogwatch/dogwatch/plugins/triggers/dockercompose"
	"github.com/dogwatch/dogwatch/plugins/triggers/googlechat"
	"github.com/dogwatch/dogwatch/plugins/triggers/gotify"
	"github.com/dogwatch/dogwatch/plugins/triggers/http"
	"github.com/dogwatch/dogwatch/plugins/triggers/ifttt"
	"github.com/dogwatch/dogwatch/plugins/triggers/kafka"
	"github.com/dogwatch/dogwatch/plugins/triggers/matrix"
	"github.com/dogwatch/dogwatch/plugins/triggers/mattermost"
	"github.com/dogwatch/dogwatch/plugins/triggers/mock"
	"github.com/dogwatch/dogwatch/plugins/triggers/mqtt"
	"github.com/dogwatch/dogwatch/plugins/triggers/ntfy"
	"github.com/dogwatch/dogwatch/plugins/triggers/pushover"
	"github.com/dogwatch/dogwatch/plugins/triggers/rocketchat"
	"github.com/dogwatch/dogwatch/plugins/triggers/shoutrrr"
	"github.com/dogwatch/dogwatch/plugins/triggers/slack"
	"github.com/dogwatch/dogwatch/plugins/triggers/smtp"
	"github.com/dogwatch/dogwatch/plugins/triggers/teams"
	"github.com/dogwatch/dogwatch/plugins/triggers/telegram"
	"github.com/dogwatch/dogwatch/plugins/triggers/webpush"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Types returns every trigger type, in alphabetical order.
func Types() []trigger.Type {
	return []trigger.Type{
		apprise.Type(),
		command.Type(),
		discord.Type(),
		docker.Type(),
		dockercompose.Type(),
		googlechat.Type(),
		gotify.Type(),
		http.Type(),
		ifttt.Type(),
		kafka.Type(),
		matrix.Type(),
		mattermost.Type(),
		mock.Type(),
		mqtt.Type(),
		ntfy.Type(),
		pushover.Type(),
		rocketchat.Type(),
		shoutrrr.Type(),
		slack.Type(),
		smtp.Type(),
		teams.Type(),
		telegram.Type(),
		webpush.Type(),
	}
}
