package smtp

import (
	"html"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	maxLink = 2000
	// maxButtons keeps the mail of a batch short.
	maxButtons = 60
)

// The styles are attributes, as mail programs take no style sheets.
const (
	textStyle   = `style="font-family:sans-serif;font-size:15px;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 16px"`
	buttonStyle = `style="display:inline-block;padding:10px 18px;margin:0 8px 8px 0;border-radius:6px;border:1px solid #0b5cad;font-family:sans-serif;font-size:15px;text-decoration:none;`
	firstStyle  = buttonStyle + `background:#0b5cad;color:#ffffff"`
	otherStyle  = buttonStyle + `background:#ffffff;color:#0b5cad"`
	noteStyle   = `style="font-family:sans-serif;font-size:13px;color:#545d68;margin:8px 0 0"`
)

// page returns a mail with buttons as HTML; "" when there is nothing to decide.
func page(req trigger.Request) string {
	rows := message.Buttons(req, maxLink, maxButtons)
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"></head><body>\n")
	b.WriteString("<p " + textStyle + ">" + html.EscapeString(req.Body) + "</p>\n")
	for _, row := range rows {
		b.WriteString("<p style=\"margin:0\">")
		for i, a := range row {
			style := otherStyle
			if i == 0 {
				style = firstStyle
			}
			b.WriteString(`<a href="` + html.EscapeString(a.URL) + `" ` + style + ">" + html.EscapeString(a.Label) + "</a>\n")
		}
		b.WriteString("</p>\n")
	}
	b.WriteString("<p " + noteStyle +
		">Each button opens a page that shows the update and asks; nothing is decided before.</p>\n</body></html>\n")
	return b.String()
}
