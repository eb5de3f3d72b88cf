// Package triggers lists the triggers that come with Dogwatch.
package triggers

import (
	"github.com/dogwatch/dogwatch/plugins/triggers/command"
	"github.com/dogwatch/dogwatch/plugins/triggers/http"
	"github.com/dogwatch/dogwatch/plugins/triggers/mock"
	"github.com/dogwatch/dogwatch/plugins/triggers/ntfy"
	"github.com/dogwatch/dogwatch/plugins/triggers/smtp"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Types returns every trigger type, in alphabetical order.
func Types() []trigger.Type {
	return []trigger.Type{
		command.Type(),
		http.Type(),
		mock.Type(),
		ntfy.Type(),
		smtp.Type(),
	}
}
