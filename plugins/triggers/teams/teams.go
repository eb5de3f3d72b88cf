// Package teams posts an Adaptive Card to a web hook of Teams Workflows, as
// https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook describes.
// Texts are shown with the Markdown of cards:
// https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/cards-format.
package teams

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxPayloadBytes leaves some of the 28 KB that a message may take, about,
	// to what the workflow adds to it:
	// https://learn.microsoft.com/en-us/connectors/teams/#known-issues-and-limitations-with-actions
	maxPayloadBytes = 25_000
	maxLink         = 1000
	// maxButtons is how many actions Teams shows of a card, without that for the release notes:
	// https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/cards-reference
	maxButtons = 5
)

// Options configures one teams trigger.
type Options struct {
	URL         *url.URL `option:"url,required,secret" help:"Address of the workflow that posts to a channel or chat when a web hook request is received" example:"https://example.logic.azure.com/workflows/secret"`
	CardVersion string   `option:"cardversion" default:"1.4" choices:"1.2,1.3,1.4,1.5" help:"Version of Adaptive Cards to declare"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("teams", "Post a card to Microsoft Teams through a workflow", New,
		kind.Docs("https://support.microsoft.com/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498"), kind.Messages())
}

// payload is the body of the request: a message that has a card attached.
type payload struct {
	Type        string       `json:"type"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	ContentType string `json:"contentType"`
	Content     card   `json:"content"`
}

// card follows https://adaptivecards.io/explorer/AdaptiveCard.html.
type card struct {
	Schema  string      `json:"$schema"`
	Type    string      `json:"type"`
	Version string      `json:"version"`
	Body    []textBlock `json:"body"`
	Actions []openURL   `json:"actions,omitempty"`
	Teams   width       `json:"msteams"`
}

type textBlock struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Size   string `json:"size,omitempty"`
	Weight string `json:"weight,omitempty"`
	Wrap   bool   `json:"wrap"`
}

type openURL struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type width struct {
	Width string `json:"width"`
}

// New returns a trigger that posts to one workflow.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if host := o.URL.Hostname(); env.Warn != nil &&
		(host == "outlook.office.com" || strings.HasSuffix(host, ".webhook.office.com")) {
		env.Warn("url: is that of an Office 365 connector, which Microsoft has retired; make a workflow and give its address")
	}
	return chat.Posting(env, o.Options, chat.Hook(o.URL, explain), o.URL.String(), o.payload)
}

// payload makes the message of a delivery, with a body as long as fits.
func (o Options) payload(req trigger.Request) (payload, error) {
	text := chat.Of(req, false)
	return chat.FitJSON(text.Body, maxPayloadBytes, func(body string) payload { return o.card(text.Title, body, req) })
}

func (o Options) card(title, body string, req trigger.Request) payload {
	c := card{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: o.CardVersion,
		Teams: width{"Full"},
	}
	if title != "" {
		c.Body = append(c.Body, textBlock{Type: "TextBlock", Text: title, Size: "Medium", Weight: "Bolder", Wrap: true})
	}
	if body != "" {
		c.Body = append(c.Body, textBlock{Type: "TextBlock", Text: paragraphs(body), Wrap: true})
	}
	c.Actions = slices.Concat(message.Rows(req, maxLink, maxButtons, func(a trigger.Action) openURL {
		return openURL{"Action.OpenUrl", a.Label, a.URL}
	})...)
	if link := link(req); link != "" {
		// An address in the text of a card cannot be followed.
		c.Actions = append(c.Actions, openURL{"Action.OpenUrl", "Release notes", link})
	}
	return payload{"message", []attachment{{"application/vnd.microsoft.card.adaptive", c}}}
}

// paragraphs makes every line a paragraph: a card ignores single line ends outside of lists.
func paragraphs(text string) string {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
	return strings.Join(lines, "\n\n")
}

// link is the address of the release notes, if it is one: a card with a malformed address is refused as a whole.
func link(req trigger.Request) string {
	text := message.ReleaseLink(req, maxLink)
	if u, err := url.Parse(text); err != nil || u.Host == "" {
		return ""
	}
	return text
}

// explain reads the errors of a workflow:
// https://learn.microsoft.com/en-us/rest/api/logic/workflow-triggers/run#errorresponse.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if a.OK() || !a.Decode(&response) || response.Error.Code == "" {
		return nil
	}
	r := &chat.ServiceError{Text: response.Error.Code + ": " + response.Error.Message}
	switch {
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || a.Status == http.StatusNotFound,
		strings.HasPrefix(response.Error.Code, "Workflow"), strings.HasPrefix(response.Error.Code, "DirectApi"):
		r.Option = "url"
	}
	return r
}
