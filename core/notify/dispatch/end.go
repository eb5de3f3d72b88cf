package dispatch

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// dryRun is the code of an operation that only pulled the image.
const dryRun = "dryrun"

// endOf returns the type of the event of which triggers are notified at the end of an
// operation. It is false for one that a user cancelled, or that changed nothing on purpose.
func endOf(e event.Event) (string, bool) {
	if e.Operation == nil || e.Operation.DryRun || e.Operation.Code == dryRun {
		return "", false
	}
	switch e.Type {
	case event.OperationSucceeded:
		return trigger.UpdateApplied, true
	case event.OperationRolledBack:
		return trigger.UpdateRolledBack, true
	case event.OperationFailed:
		return trigger.UpdateFailed, true
	}
	return "", false
}

// ends plans what triggers are told of the ends of operations: those that want to be told, unless the labels of the
// container exclude it. What worked can wait for the summary of a trigger that sends summaries. Triggers that have
// containers updated are not run for that. There is one delivery for each operation, however often it is planned.
type ends struct{ containers Containers }

func (p ends) plan(t Trigger, e event.Event) []delivery.Delivery {
	typ, ended := endOf(e)
	if !ended || !t.Operations || t.Operates || t.Summary != nil && typ == trigger.UpdateApplied ||
		!isOf(t, e, p.containers) {
		return nil
	}
	o := e.Operation
	watcherName, name, _ := strings.Cut(e.Subject, "/")
	downtime, _ := time.ParseDuration(o.Downtime)
	return []delivery.Delivery{newEventDelivery(t, e, e.Subject, hash("operation", o.ID), trigger.Event{
		Type: typ, Watcher: watcherName, Error: o.Error, At: sdk.TimeOf(e.At), Container: name, Operation: o.ID, Kind: o.Kind,
		From: o.From, To: o.To, By: cmp.Or(o.Trigger, o.Actor), Downtime: downtime.Seconds(), Log: o.Log,
	})}
}

// isOf reports whether the container of an operation is one of a trigger's.
func isOf(t Trigger, e event.Event, containers Containers) bool {
	watcherName, name, _ := strings.Cut(e.Subject, "/")
	c, known := containers.ByName(watcherName, name)
	if !known {
		return true
	}
	_, associated := Associated(t.ID, t.IncludeByDefault, c)
	return associated
}

// endMessage returns title and body of a message about the end of an operation.
func endMessage(e trigger.Event) (title, body string) {
	what, done := "Update", "updated"
	if e.Kind == string(operation.Rollback) {
		what, done = "Rollback", "rolled back"
	}
	images := fmt.Sprintf("From %s to %s", shortImage(e.From), shortImage(e.To))
	if e.By != "" && e.By != event.Anonymous {
		images += ", by " + e.By
	}
	images += "."
	switch e.Type {
	case trigger.UpdateApplied:
		if e.Downtime > 0 {
			images += fmt.Sprintf(" It was down for %s.",
				time.Duration(e.Downtime*float64(time.Second)).Round(100*time.Millisecond))
		}
		return fmt.Sprintf("Container %s was %s", e.Container, done), images
	case trigger.UpdateRolledBack:
		title = fmt.Sprintf("%s of container %s did not work: the old one is back", what, e.Container)
	default:
		title = fmt.Sprintf("%s of container %s failed", what, e.Container)
	}
	body = cmp.Or(e.Error, "No reason is known.") + "\n" + images
	if e.Log != "" {
		body += "\nThe last lines of its log:\n" + e.Log
	}
	return title, body
}
