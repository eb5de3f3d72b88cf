package webpush

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxPayloadBytes is what is left of the 4,096 bytes that push services take at least
	// (RFC 8030, section 7.2) without the header and the tag of the encryption (RFC 8291, section 4).
	maxPayloadBytes = 3993
	maxTitle        = 120
	// maxURL leaves the better part of a message to its text.
	maxURL = 700
	// topicLength is the most characters of a topic: RFC 8030, section 5.4.
	topicLength = 32
)

// labels are the words of the buttons of a notification. Browsers show two at most:
// https://developer.mozilla.org/docs/Web/API/Notification/maxActions_static.
var labels = map[string]string{trigger.ActionApprove: "Update", trigger.ActionSnooze: "Not now"}

// payload is what the service worker of the pages reads.
type payload struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	// Tag is what the message is about: a notification replaces an older one with its tag.
	Tag string `json:"tag,omitempty"`
	// Path is the page that a tap opens, below the address of the dashboard.
	Path    string   `json:"path"`
	Urgent  bool     `json:"urgent,omitempty"`
	Actions []button `json:"actions,omitempty"`
}

// button opens a page.
type button struct {
	Action string `json:"action"`
	Title  string `json:"title"`
	URL    string `json:"url"`
}

// payloadOf makes the message of a delivery, with as much of its text as fits.
func payloadOf(req trigger.Request) ([]byte, error) {
	tag, path := aboutOf(req)
	p := payload{Tag: tag, Path: path, Urgent: req.Event.Urgent(), Actions: buttonsOf(req)}
	p.Title, _ = httpclient.Truncate(req.Title, maxTitle)
	p, err := chat.FitJSON(chat.FitBytes(req.Body, maxPayloadBytes), maxPayloadBytes, func(text string) payload {
		p.Body = text
		return p
	})
	if err != nil {
		return nil, err
	}
	return httpclient.EncodeJSON(p)
}

// buttonsOf returns the buttons of a message about one update.
func buttonsOf(req trigger.Request) (all []button) {
	if len(req.Containers) != 1 {
		return nil
	}
	for _, row := range message.Buttons(req, maxURL, len(req.Actions)) {
		for _, a := range row {
			if label := labels[a.Kind]; label != "" {
				all = append(all, button{a.Kind, label, a.URL})
			}
		}
	}
	return all
}

// aboutOf returns what a delivery is about, "" for several things, and the page that has more of it.
func aboutOf(req trigger.Request) (tag, path string) {
	switch e := req.Event; {
	case req.Test:
		return "test", "settings/notifications"
	case e == nil && len(req.Containers) == 1:
		return container(req.Containers[0].Watcher, req.Containers[0].Name)
	case e == nil:
		return "", "containers?state=updates"
	case e.Container != "":
		return container(e.Watcher, e.Container)
	case e.Type == trigger.SummaryDue:
		return "summary", ""
	case e.Type == trigger.PluginOutdated:
		return "plugin/" + e.Plugin, "plugins"
	default:
		return "watcher/" + e.Watcher, "watchers"
	}
}

func container(watcher, name string) (tag, path string) {
	return "container/" + watcher + "/" + name, "containers/" + url.PathEscape(watcher) + "/" + url.PathEscape(name)
}

// topicOf returns the topic of a delivery: of two messages with the same one, a push service
// keeps the newer (RFC 8030, section 5.4). The secret of the device hides from the service what it stands for.
func topicOf(req trigger.Request) string {
	tag, _ := aboutOf(req)
	if tag == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(req.Device.Auth))
	mac.Write([]byte(tag))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:topicLength]
}
