package containers

import (
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// historyLine is one thing that happened to a container.
type historyLine struct {
	At    time.Time
	Words string
	Bad   bool
}

// happened is what became of a container, newest first.
func happened(events []event.Event, c *sdk.Container) []historyLine {
	var lines []historyLine
	for _, e := range events {
		if len(lines) == historyLines {
			break
		}
		if e.Choice != nil {
			lines = append(lines, historyLine{At: e.At, Words: words.Choice(e.Type, *e.Choice)})
			continue
		}
		if e.Scan != nil {
			said, class := words.Scan(*e.Scan)
			lines = append(lines, historyLine{At: e.At, Words: words.Capital(said), Bad: class != ""})
			continue
		}
		if e.Container == nil || e.Container.Watcher != c.Watcher {
			continue
		}
		line := historyLine{At: e.At}
		switch e.Type {
		case event.ContainerAdded:
			line.Words = "It was found, running " + words.Tag(e.Container.Image.Tag.Value)
		case event.ContainerReplaced:
			line.Words = "It was recreated, running " + words.Tag(e.Container.Image.Tag.Value)
		case event.ContainerRenamed:
			line.Words = "It was renamed, from " + e.From
		case event.ContainerRemoved:
			line.Words = "It was removed"
		case event.UpdateFound:
			line.Words = "It has a newer version: " + found(e.Container)
		case event.UpdateCleared:
			line.Words = cleared(e.Container, c)
		case event.ContainerChanged:
			line.Words, line.Bad = changed(e, c)
		default:
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

func found(c *sdk.Container) string {
	kind := " (" + tally.Word(tally.Kind(c)) + ")"
	if _, offered := tally.Versions(c); offered != "" {
		return offered + kind
	}
	if tally.Rebuilt(c) {
		return words.Digest(c.UpdateKind.RemoteValue) + kind
	}
	if c.Result == nil {
		return "unknown"
	}
	return c.Result.Tag + kind
}

// cleared says what is the case where an update is none any more.
func cleared(c, now *sdk.Container) string {
	if tally.Unknown(c) {
		return "Whether there is anything newer is not known any more" + reasonUnless(c, now)
	}
	return "It is up to date again"
}

// reasonUnless says why nothing could be compared, unless that is so now, which the page says anyway.
func reasonUnless(c, now *sdk.Container) string {
	if tally.Unknown(now) && c.Check.Reason == now.Check.Reason {
		return ""
	}
	return ": " + c.Check.Reason
}

func changed(e event.Event, now *sdk.Container) (text string, bad bool) {
	c := e.Container
	switch {
	case e.Aspect == event.Postponed && c.Check.Postponed():
		return "It could not be asked about; its " + words.Postponed(*c), false
	case e.Aspect == event.Postponed:
		return "It was " + words.Postponed(*c), false
	case (e.Aspect == event.Decided || e.Aspect == event.Leveled) && c.Decision != nil:
		return words.Decision(*c), false
	case c.Error != nil:
		return "It has a problem: " + c.Error.Message, true
	case c.Check.State == sdk.CheckFailed:
		return "It could not be checked", true
	case tally.Unknown(c):
		return "Whether there is anything newer is not known" + reasonUnless(c, now), false
	case c.Status != "":
		return "It changed; it is " + c.Status, false
	}
	return "It changed", false
}

// maxNames is how many names of one container its history goes back.
const maxNames = 5

// historyOf returns what happened to a container, newest first, under the names
// that it had before, too.
func (h *Handler) historyOf(ctx context.Context, actor auth.Actor, c *sdk.Container) (all []event.Event, err error) {
	f := event.Filter{SkipReleased: true, Subject: event.Subject(*c)}
	for range maxNames {
		f.Limit = versionEvents - len(all)
		found, err := h.service.History(ctx, actor, f)
		if err != nil {
			return nil, err
		}
		next := ""
		for _, e := range found {
			all = append(all, e)
			if e.From != "" { // what came before under this name was another container
				next, f.Before = e.From, e.ID
				break
			}
		}
		if next == "" || len(all) >= versionEvents {
			break
		}
		f.Subject = event.Subject(sdk.Container{Watcher: c.Watcher, Name: next})
	}
	return all, nil
}
