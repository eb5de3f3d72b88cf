package words

import (
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// Event returns what happened in a sentence, and the class of its colour.
func Event(e event.Event) (text phrase.Phrase, class string) {
	switch {
	case e.Container != nil && e.Type == event.ContainerRenamed:
		return phrase.New("renamed: %s → %s", e.From, e.Container.Name), ""
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
	return phrase.Verbatim(string(e.Type)), ""
}

func describeContainer(t event.Type, a event.Aspect, c *sdk.Container) (text phrase.Phrase, class string) {
	switch t {
	case event.UpdateFound:
		kind := Standing(c)
		return phrase.New("update found: %s (%s)", Update(c), kind.Word), kind.Class
	case event.UpdateCleared:
		if tally.Unknown(c) {
			return notKnown(c), ""
		}
		return phrase.New("up to date with %s", c.Image.Tag.Value), "ok"
	case event.ContainerAdded:
		return phrase.New("found, running %s", imageOf(c)), ""
	case event.ContainerReplaced:
		return phrase.New("recreated, running %s", imageOf(c)), ""
	case event.ContainerRemoved:
		return phrase.New("removed"), ""
	}
	switch {
	case a == event.Postponed && c.Check.Postponed():
		return phrase.New("check %s", Postponed(c)), ""
	case a == event.Postponed:
		return phrase.New("checked again after a pause"), ""
	case (a == event.Decided || a == event.Leveled) && c.Decision != nil:
		return Decision(c), ""
	case c.Error != nil && c.Check.State == sdk.CheckFailed:
		return phrase.New("check failed: %s", FailureOf(c.Error.Cause, c.Error.Message)), "failed"
	case c.Error != nil:
		return phrase.New("wrong label: %s", phrase.Quote(c.Error.Message)), "failed"
	case tally.Unknown(c):
		return notKnown(c), ""
	case c.Status == "":
		return phrase.New("changed"), ""
	}
	switch c.Status {
	case "running":
		return phrase.New("started"), ""
	case "exited":
		return phrase.New("stopped"), ""
	case "removing":
		return phrase.New("being removed"), ""
	}
	return phrase.New("changed, now %s", Status(c.Status)), ""
}

func describeCheck(t event.Type, c event.Check) (text phrase.Phrase, class string) {
	what := phrase.New("check")
	if c.Single {
		what = phrase.New("check of one container")
	}
	switch {
	case t == event.CheckStarted:
		return phrase.New("%s began", what), ""
	case t == event.CheckFailed:
		return phrase.New("%s failed: %s", what, Mistake(withoutWatcher(c.Error))), "failed"
	}
	var parts, updates []phrase.Phrase
	if found := len(c.Found); found > 0 {
		updates = append(updates, phrase.New("%d new", found))
	}
	if c.Held > 0 {
		updates = append(updates, phrase.New("%d held", c.Held))
	}
	if n := max(c.Known, len(c.Updates)); n > 0 && len(updates) > 0 { // events of before say less
		parts = append(parts, phrase.New("%s (%s)", phrase.Count(n, "update"), phrase.Join(", ", updates...)))
	} else if n > 0 {
		parts = append(parts, phrase.Count(n, "update"))
	} else if c.Single || c.Containers > 0 {
		parts = append(parts, phrase.New("nothing newer"))
	}
	if c.Failed > 0 {
		parts, class = append(parts, phrase.New("%d failed", c.Failed)), "partly"
	}
	if c.Postponed > 0 {
		parts = append(parts, phrase.New("%d postponed", c.Postponed))
	}
	if shared := SharedEngine(c); shared != nil {
		parts = append(parts, shared)
	}
	if took, err := time.ParseDuration(c.Took); err == nil {
		parts = append(parts, phrase.New("took %s", Took(took)))
	}
	done, separator := phrase.New("checked %s", phrase.Count(c.Containers, "container")), ": "
	if c.Single {
		done = phrase.New("one container checked")
	} else if c.Containers == 0 && c.Shared == 0 {
		separator = ", " // there is nothing to tell of them
	}
	return phrase.Join(separator, done, phrase.Join(", ", parts...)), class
}

// SharedEngine says how many containers a check left to another watcher of the same engine; nil for none.
func SharedEngine(c event.Check) phrase.Phrase {
	if c.Shared == 0 {
		return nil
	}
	return phrase.New("%d left to %s, which watches the same engine", c.Shared, c.SharedWith)
}

// ofWatcher is what errors of watchers begin with, which is the subject of the event already.
var ofWatcher = lazyregexp.New(`^watcher\.[^:\s]+: `)

func withoutWatcher(err string) string { return ofWatcher().ReplaceAllString(err, "") }

func describeOutage(e event.Event) (text phrase.Phrase, class string) {
	if e.Type == event.WatcherRecovered {
		return phrase.New("engine works again, after %s", Span(e.At.Sub(e.Watcher.Since))), "ok"
	}
	return phrase.New("engine does not work: %s", Mistake(withoutWatcher(e.Watcher.Error))), "failed"
}

func describeDelivery(t event.Type, d event.Delivery) (text phrase.Phrase, class string) {
	switch t {
	case event.TriggerSent:
		said := phrase.New("sent")
		if d.Attempts > 1 {
			said = phrase.New("sent at attempt %d", d.Attempts)
		}
		return phrase.Join(": ", said, phrase.Quote(d.Title)), "ok"
	case event.TriggerFailed:
		return phrase.New("failed after %s: %s", phrase.Count(d.Attempts, "attempt"),
			Mistake(Undelivered(d.Trigger, d.Error))), "failed"
	}
	return phrase.Join(": ", phrase.New("not sent"), NotSent(d.Error)), ""
}

func describePlugin(t event.Type, p event.Plugin) (text phrase.Phrase, class string) {
	switch t {
	case event.PluginUp:
		return phrase.New("started"), ""
	case event.PluginOutdated:
		return phrase.New("a newer version is available: %s", p.To), ""
	case event.PluginBroken:
		return phrase.New("will not run: %s", Mistake(p.Error)), "failed"
	}
	if p.Error == "" {
		return phrase.New("stopped"), ""
	}
	return phrase.New("process is down: %s", Mistake(p.Error)), "failed"
}

func describeLogin(t event.Type, l event.Login) (text phrase.Phrase, class string) {
	switch {
	case t == event.LoginSucceeded:
		text = phrase.New("logged in")
	case t == event.LoginFailed && l.Attempts > 1:
		text, class = phrase.New("%d logins refused", l.Attempts), "failed"
	case t == event.LoginFailed:
		text, class = phrase.New("login refused"), "failed"
	case t == event.LoggedOut:
		text = phrase.New("logged out")
	case t == event.TokenCreated:
		text = phrase.New("created the token %s (%s)", l.Token, l.Scope)
	case t == event.LinksRevoked && l.Trigger == "":
		text = phrase.New("revoked the links of all messages")
	case t == event.LinksRevoked:
		text = phrase.New("revoked the links of %s", l.Trigger)
	default:
		text = phrase.New("revoked the token %s", l.Token)
	}
	between := " "
	if l.Error != "" {
		text, between = phrase.Join(": ", text, phrase.Quote(l.Error)), ", "
	}
	if l.Method != "" {
		text = phrase.Join(between, text, loginMethod(l.Method))
	}
	if l.By != "" {
		text = phrase.Join(", ", text, phrase.New("ended by %s", l.By))
	}
	if l.Address != "" {
		text = phrase.Join(between, text, phrase.New("from %s", l.Address))
	}
	return text, class
}

// loginMethod says of the section of a method how somebody logged in.
func loginMethod(id string) phrase.Phrase {
	switch typ, name, _ := strings.Cut(id, "."); {
	case typ == "basic":
		return phrase.New("with a password")
	case name != "":
		return phrase.New("with %s", name)
	}
	return phrase.New("with %s", id)
}

func describeSetting(s event.Setting) phrase.Phrase {
	text := phrase.New("changed from %s to %s", s.From, s.To)
	if s.From == "" { // of the whole configuration
		text = phrase.New("reloaded (%s)", s.To)
	}
	if s.User != "" {
		text = phrase.Join(" ", text, phrase.New("by %s", s.User))
	}
	if s.Address != "" {
		text = phrase.Join(" ", text, phrase.New("from %s", s.Address))
	}
	return text
}

// Scan says how a scan ended, and the class of its colour.
func Scan(s event.Scan) (text phrase.Phrase, class string) {
	what := phrase.New("images scanned")
	if s.Actor != "" {
		what = phrase.New("images scanned for %s", s.Actor)
	}
	if s.Error != "" {
		return phrase.New("%s without success: %s", what, phrase.Quote(s.Error)), "failed"
	}
	return phrase.Join(": ", what, phrase.Join(" ", phrase.Verbatim(s.Version), Scanned(s.Summary))), ""
}
