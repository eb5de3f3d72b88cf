package message

import (
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Buttons returns what readers can decide, a row for each container, for services
// whose buttons open a page. In a message about several containers the labels name
// theirs. A row that has an address of more than maxURL bytes is left out, and so are
// rows from the one on with which there would be more than most buttons.
func Buttons(req trigger.Request, maxURL, most int) [][]trigger.Action {
	var rows [][]trigger.Action
	for i := range req.Containers {
		row := rowOf(req, &req.Containers[i], maxURL)
		if most -= len(row); most < 0 {
			break
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// Rows returns Buttons as a service writes them.
func Rows[B any](req trigger.Request, maxURL, most int, write func(trigger.Action) B) (rows [][]B) {
	for _, actions := range Buttons(req, maxURL, most) {
		var row []B
		for _, a := range actions {
			row = append(row, write(a))
		}
		rows = append(rows, row)
	}
	return rows
}

func rowOf(req trigger.Request, c *sdk.Container, maxURL int) []trigger.Action {
	var row []trigger.Action
	for _, a := range req.ActionsOf(c.ID) {
		switch {
		case a.Kind == trigger.ActionDecide: // the others are the same without a second step
			continue
		case len(a.URL) > maxURL:
			return nil
		}
		if len(req.Containers) > 1 {
			a.Label += " " + nameOf(c)
		}
		row = append(row, a)
	}
	return row
}

func nameOf(c *sdk.Container) string {
	if c.DisplayName != "" {
		return c.DisplayName
	}
	return c.Name
}

// Decide returns the page on which the reader of a message about one update decides,
// for services with room for one link; "" when there is none of at most maxURL bytes.
func Decide(req trigger.Request, maxURL int) string {
	if req.Batch || len(req.Containers) != 1 {
		return ""
	}
	for _, a := range req.ActionsOf(req.Containers[0].ID) {
		if a.Kind == trigger.ActionDecide && len(a.URL) <= maxURL {
			return a.URL
		}
	}
	return ""
}

// Lines returns Buttons as lines of text, one for each container, below an empty line,
// for services without buttons. write makes a link of a label and an address, and between
// stands between those of a container. A link
// that the template has placed in the body is not repeated, nor are the others of its
// container. It is "" when there is nothing to decide.
func Lines(req trigger.Request, maxURL int, between string, write func(label, address string) string) string {
	const most = 60 // of a batch of any size the message stays one
	var lines []string
	for _, row := range Buttons(req, maxURL, most) {
		var links []string
		placed := false
		for _, a := range row {
			placed = placed || strings.Contains(req.Body, a.URL)
			links = append(links, write(a.Label, a.URL))
		}
		if !placed {
			lines = append(lines, strings.Join(links, between))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\n" + strings.Join(lines, "\n")
}

// MaxURL is how long an address in Lines is at most, where the service has no limit of its own.
const MaxURL = 1000

// Markdown is a link as Markdown, for Lines.
func Markdown(label, address string) string { return "[" + label + "](" + address + ")" }

// Plain is a link for Lines of a service that makes links of addresses by itself.
func Plain(label, address string) string { return label + ": " + address }
