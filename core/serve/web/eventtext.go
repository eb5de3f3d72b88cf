package web

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/sdk"
)

// eventRow is an event in words.
type eventRow struct {
	ID      int64
	At      time.Time
	Subject string
	// Path is the page of its subject; "" when there is none.
	Path string
	// About is what a trigger was run for, when that is known.
	About string
	Said  string
	Class string
}

// newEventRow says an event in words; deliveries are those that events are about, by id.
func newEventRow(e event.Event, deliveries map[int64]delivery.Delivery) eventRow {
	row := eventRow{ID: e.ID, At: e.At, Subject: e.Subject, Path: subjectPath(e)}
	row.Said, row.Class = describe(e)
	if e.Delivery != nil {
		if d, known := deliveries[e.Delivery.ID]; known {
			row.About = aboutOf(d)
		} else if e.Delivery.Manual || e.Delivery.ID == 0 { // 0 is from before manual runs were deliveries
			row.About = "asked for by hand"
		}
	}
	return row
}

// aboutOf says what a delivery is about: "local/nginx", or "3 containers of local".
func aboutOf(d delivery.Delivery) string {
	if watcher, batch := strings.CutPrefix(d.Subject, "batch/"); batch && d.Batch {
		return plural(len(d.Containers), "container") + " of " + watcher
	}
	if d.Subject == "summary" {
		return "a summary"
	}
	if d.Manual {
		return d.Subject + ", asked for by hand"
	}
	return d.Subject
}

// deliveryPath is the page of what a delivery is about.
func deliveryPath(d delivery.Delivery) string {
	watcher, name, _ := strings.Cut(d.Subject, "/")
	switch {
	case d.Subject == "summary":
		return "/containers?state=updates"
	case d.Batch:
		return "/containers?watcher=" + url.QueryEscape(name)
	case d.Manual && (watcher == "" || name == ""): // a test with a made-up container
		return "/containers"
	}
	return "/containers/" + url.PathEscape(watcher) + "/" + url.PathEscape(name)
}

func subjectPath(e event.Event) string {
	kind, _, _ := strings.Cut(string(e.Type), ".")
	switch {
	case e.Container != nil && e.Type != event.ContainerRemoved:
		return "/containers/" + url.PathEscape(e.Container.Watcher) + "/" + url.PathEscape(e.Container.Name)
	case kind == "operation":
		return operationPath(e.Operation.ID)
	case kind == "trigger":
		typ, name, ok := strings.Cut(e.Subject, ".")
		if ok {
			return "/triggers/" + url.PathEscape(typ) + "/" + url.PathEscape(name)
		}
	case kind == "plugin":
		return "/plugins#" + url.PathEscape(e.Subject)
	case kind == "check" || kind == "watcher":
		return "/watchers"
	case e.Type == event.SettingChanged && strings.HasPrefix(e.Subject, "plugin "):
		return "/plugins"
	case e.Type == event.SettingChanged:
		return "/settings"
	}
	return ""
}

// describe returns what happened in a sentence, and the class of its colour.
func describe(e event.Event) (said, class string) {
	switch {
	case e.Container != nil && e.Type == event.ContainerRenamed:
		return "renamed: " + e.From + " → " + e.Container.Name, ""
	case e.Container != nil:
		return describeContainer(e.Type, e.Aspect, *e.Container)
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
		return describeChoice(e.Type, *e.Choice), ""
	case e.Scan != nil:
		return describeScan(*e.Scan)
	}
	return string(e.Type), ""
}

// describeDecision says what became of the update of a container.
func describeDecision(c sdk.Container) string {
	said := "update " + c.Decision.State
	if c.Result != nil {
		said = c.Result.Tag + " " + c.Decision.State
	}
	if c.Decision.State == sdk.StateHeld && len(c.Decision.Reasons) > 0 {
		said += ": " + c.Decision.Reasons[0].Text
	}
	return said
}

func describeChoice(t event.Type, c event.Choice) string {
	said := map[string]string{"skip": "skipped", "snooze": "snoozed", "approve": "approved"}[c.Action]
	if t == event.ChoiceUndone {
		said = "no longer " + said
	}
	if c.Version != "" {
		said = c.Version + " " + said
	}
	if !c.Until.IsZero() && t != event.ChoiceUndone {
		said += " until " + c.Until.Local().Format("2006-01-02 15:04")
	}
	return said + " by " + c.Actor
}

func describeContainer(t event.Type, a event.Aspect, c sdk.Container) (string, string) {
	switch t {
	case event.UpdateFound:
		return "newer: " + step(c), updateClass(c)
	case event.UpdateCleared:
		if tally.Unknown(&c) {
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
	case a == event.Postponed:
		return postponed(c), ""
	case (a == event.Decided || a == event.Leveled) && c.Decision != nil:
		return describeDecision(c), ""
	}
	if c.Error != nil && c.Check.State == sdk.CheckFailed {
		return "check failed: " + c.Error.Message, "failed"
	}
	if tally.Unknown(&c) {
		return notKnown(c), ""
	}
	if c.Status != "" {
		return "changed, now " + c.Status, ""
	}
	return "changed", ""
}

// notKnown says that nothing could be compared, and why.
func notKnown(c sdk.Container) string {
	return "not known whether there is anything newer: " + c.Check.Reason
}

// postponed says that a check waits for a registry, or does so no more.
func postponed(c sdk.Container) string {
	if !c.Check.Postponed() {
		return "checked again after a pause"
	}
	return "check postponed until " + exactly(c.Check.PostponedUntil.Time) + ": " + c.Check.PostponedReason
}

func imageOf(c sdk.Container) string {
	if c.Image.Tag.Value == "" {
		return c.Image.Name
	}
	return c.Image.Name + ":" + c.Image.Tag.Value
}

// step writes an update: "1.25 → 1.27 (minor)".
func step(c sdk.Container) string {
	if base := tally.Base(&c); base != "" && c.Result != nil {
		return "base image " + base + " → " + c.Result.Tag + "; rebuild"
	}
	if running, offered := tally.Versions(&c); running != "" {
		return c.Image.Tag.Value + " (" + running + " → " + offered + ")"
	}
	if c.UpdateKind.Kind == sdk.KindDigest {
		return c.Image.Tag.Value + " was rebuilt"
	}
	text := c.UpdateKind.LocalValue + " → " + c.UpdateKind.RemoteValue
	if d := c.UpdateKind.SemverDiff; d != "" && d != "unknown" {
		text += " (" + d + ")"
	}
	return text
}

func updateClass(c sdk.Container) string {
	switch d := c.UpdateKind.SemverDiff; {
	case d == sdk.DiffMajor, d == sdk.DiffMinor, d == sdk.DiffPatch:
		return d
	case c.UpdateKind.Kind == sdk.KindDigest:
		return "digest"
	}
	return "minor"
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
	parts := []string{plural(c.Containers, "container")}
	switch n := len(c.Updates); n {
	case 0:
		parts = append(parts, "nothing newer")
	default:
		parts = append(parts, plural(n, "update"))
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
		return "its engine can be reached again, after " + span(e.At.Sub(e.Watcher.Since)), "ok"
	}
	return "its engine cannot be reached: " + e.Watcher.Error, "failed"
}

func describeDelivery(t event.Type, d event.Delivery) (string, string) {
	switch t {
	case event.TriggerSent:
		if d.Attempts > 1 {
			return "sent at attempt " + strconv.Itoa(d.Attempts), "ok"
		}
		return "sent", "ok"
	case event.TriggerFailed:
		return "failed after " + plural(d.Attempts, "attempt") + ": " + d.Error, "failed"
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

func describeLogin(t event.Type, l event.Login) (said, class string) {
	switch t {
	case event.LoginSucceeded:
		said = "logged in"
	case event.LoginFailed:
		said, class = "login refused", "failed"
		if l.Attempts > 1 {
			said = strconv.Itoa(l.Attempts) + " logins refused"
		}
	case event.LoggedOut:
		said = "logged out"
	case event.TokenCreated:
		said = "created the token " + l.Token + " (" + l.Scope + ")"
	case event.LinksRevoked:
		said = "revoked the links of " + cmp.Or(l.Trigger, "all messages")
	default:
		said = "revoked the token " + l.Token
	}
	if l.Method != "" {
		said += " by " + l.Method
	}
	if l.By != "" {
		said += ", ended by " + l.By
	}
	if l.Address != "" {
		said += " from " + l.Address
	}
	if l.Error != "" {
		said += ": " + l.Error
	}
	return said, class
}

func describeSetting(s event.Setting) string {
	said := "changed from " + s.From + " to " + s.To
	if s.From == "" { // of the whole configuration
		said = "reloaded (" + s.To + ")"
	}
	if s.User != "" {
		said += " by " + s.User
	}
	if s.Address != "" {
		said += " from " + s.Address
	}
	return said
}
