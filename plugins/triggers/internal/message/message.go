// Package message renders what several triggers send in the same way.
package message

import (
	"strings"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Body returns the text of a delivery for services that refuse an empty one:
// the body, or the title, or a text that says there is none.
func Body(req trigger.Request) string {
	for _, text := range []string{req.Body, req.Title} {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return "(no text)"
}

// Event is the JSON of a request about an event.
type Event struct {
	*trigger.Event
	Title string `json:"title"`
	Body  string `json:"body"`
}

// EventOf returns the event of a request, which must have one.
func EventOf(req trigger.Request) Event { return Event{req.Event, req.Title, req.Body} }

// Content returns what the JSON of a request holds: one container, a list for a batch, or an event with its message.
func Content(req trigger.Request) any {
	switch {
	case req.Event != nil:
		return EventOf(req)
	case !req.Batch && len(req.Containers) == 1:
		return req.Containers[0]
	case req.Containers == nil:
		return []sdk.Container{}
	}
	return req.Containers
}

// ReleaseLink returns where a tap on the message of a single update leads: to its
// release notes. It is "" for a batch, without a link, and for a link of more
// than limit bytes. Links come from labels, so only those to the web are followed.
func ReleaseLink(req trigger.Request, limit int) string {
	if req.Batch || len(req.Containers) != 1 {
		return ""
	}
	c := req.Containers[0]
	var link string
	switch {
	case c.Result != nil:
		link = c.Result.Link
	case c.UpdateKind.Result != nil:
		link = c.UpdateKind.Result.Link
	}
	if len(link) > limit || webaddress.Of(link) == "" {
		return ""
	}
	return link
}
