package words

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/sdk"
)

// Event returns what happened in a sentence, and the class of its colour.
func Event(e event.Event) (text, class string) {
	switch {
	case e.Container != nil && e.Type == event.ContainerRenamed:
		return "renamed: " + e.From + " → " + e.Container.Name, ""
	case e.Container != nil:
		return describeContainer(e.Type, e.Aspect, e.Container)
	case e.Check != nil:
		return describeCheck(e.Type, *e.Check)
	case e.Delivery != nil:
		return describeDelivery(e.Type, *e.Delivery)
	case e.Plugin != nil:
		return describePlugin(e.Type, *e.Plugin)
	case e.Login != nil:
		return describeLogin(e.Type, *e.Login)
	case e.Watcher != nil:
		return describeOutage(e)
	case e.Operation != nil:
		return describeOperation(e.Type, *e.Operation)
	case e.Setting != nil:
		return describeSetting(*e.Setting), ""
	case e.Choice != nil:
		return Choice(e.Type, *e.Choice), ""
	case e.Scan != nil:
		return Scan(*e.Scan)
	}
	return string(e.Type), ""
}

func describeContainer(t event.Type, a event.Aspect, c *sdk.Container) (text, class string) {
	switch t {
	case event.UpdateFound:
		kind := Standing(c)
		return "newer: " + Update(c) + " (" + kind.Word.String() + ")", kind.Class
	case event.UpdateCleared:
		if tally.Unknown(c) {
			return notKnown(c), ""
		}
		return "up to date with " + c.Image.Tag.Value, "ok"
	case event.ContainerAdded:
		return "found, running " + imageOf(c), ""
	case event.ContainerReplaced:
		return "recreated, running " + imageOf(c), ""
	case event.ContainerRemoved:
		return "gone", ""
	}
	switch {
	case a == event.Postponed && c.Check.Postponed():
		return "check " + Postponed(c), ""
	case a == event.Postponed:
		return "checked again after a pause", ""
	case (a == event.Decided || a == event.Leveled) && c.Decision != nil:
		return Decision(c), ""
	case c.Error != nil && c.Check.State == sdk.CheckFailed:
		return "check failed: " + c.Error.Message, "failed"
	case c.Error != nil:
		return "wrong label: " + c.Error.Message, "failed"
	case tally.Unknown(c):
		return notKnown(c), ""
	}
	return Joined(", now ", "changed", c.Status), ""
}

func describeCheck(t event.Type, c event.Check) (string, string) {
	what := "check"
	if c.Single {
		what = "check of one container"
	}
	switch {
	case t == event.CheckStarted:
		return what + " began", ""
	case t == event.CheckFailed:
		return what + " failed: " + c.Error, "failed"
	}
	parts := []string{phrase.Count(c.Containers, "container").String()}
	switch n := len(c.Updates); n {
	case 0:
		parts = append(parts, "nothing newer")
	default:
		parts = append(parts, phrase.Count(n, "update").String())
		if found := len(c.Found); found > 0 {
			parts = append(parts, strconv.Itoa(found)+" of them new")
		}
	}
	class := ""
	if c.Failed > 0 {
		parts, class = append(parts, strconv.Itoa(c.Failed)+" failed"), "partly"
	}
	if c.Postponed > 0 {
		parts = append(parts, strconv.Itoa(c.Postponed)+" postponed")
	}
	if c.Took != "" {
		parts = append(parts, "took "+c.Took)
	}
	return what + " finished: " + strings.Join(parts, ", "), class
}

func describeOutage(e event.Event) (string, string) {
	if e.Type == event.WatcherRecovered {
		return "its engine can be reached again, after " + Span(e.At.Sub(e.Watcher.Since)).String(), "ok"
	}
	return "its engine cannot be reached: " + e.Watcher.Error, "failed"
}

func describeDelivery(t event.Type, d event.Delivery) (string, string) {
	switch t {
	case event.TriggerSent:
		said := "sent"
		if d.Attempts > 1 {
			said += " at attempt " + strconv.Itoa(d.Attempts)
		}
		return Joined(": ", said, d.Title), "ok"
	case event.TriggerFailed:
		return "failed after " + phrase.Count(d.Attempts, "attempt").String() + ": " + d.Error, "failed"
	}
	return "skipped: not worth sending any more", ""
}

func describePlugin(t event.Type, p event.Plugin) (string, string) {
	switch t {
	case event.PluginUp:
		return "process is up", "ok"
	case event.PluginOutdated:
		return "a newer version is available: " + p.To, ""
	case event.PluginBroken:
		return "will not run (" + p.State + "): " + p.Error, "failed"
	}
	if p.Error == "" {
		return "process stopped", ""
	}
	return "process is down: " + p.Error, "failed"
}

func describeLogin(t event.Type, l event.Login) (text, class string) {
	switch t {
	case event.LoginSucceeded:
		text = "logged in"
	case event.LoginFailed:
		text, class = "login refused", "failed"
		if l.Attempts > 1 {
			text = strconv.Itoa(l.Attempts) + " logins refused"
		}
	case event.LoggedOut:
		text = "logged out"
	case event.TokenCreated:
		text = "created the token " + l.Token + " (" + l.Scope + ")"
	case event.LinksRevoked:
		text = "revoked the links of " + cmp.Or(l.Trigger, "all messages")
	default:
		text = "revoked the token " + l.Token
	}
	if l.Method != "" {
		text += " by " + l.Method
	}
	if l.By != "" {
		text += ", ended by " + l.By
	}
	if l.Address != "" {
		text += " from " + l.Address
	}
	if l.Error != "" {
		text += ": " + l.Error
	}
	return text, class
}

func describeSetting(s event.Setting) string {
	text := "changed from " + s.From + " to " + s.To
	if s.From == "" { // of the whole configuration
		text = "reloaded (" + s.To + ")"
	}
	if s.User != "" {
		text += " by " + s.User
	}
	if s.Address != "" {
		text += " from " + s.Address
	}
	return text
}

// Scan says how a scan ended, and the class of its colour.
func Scan(s event.Scan) (text, class string) {
	what := "images scanned"
	if s.Actor != "" {
		what += " for " + s.Actor
	}
	if s.Error != "" {
		return what + " without success: " + s.Error, "failed"
	}
	return what + ": " + s.Version + " " + s.Summary, ""
}
