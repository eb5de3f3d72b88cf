package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// service is a trigger type as a user configures it, and what it talks to.
type service struct {
	typ     string
	options map[string]string
	// mistake is a change of the options that is one, and blames the option that is to be mended.
	mistake map[string]string
	blames  string

	// host is that of a service of the internet, called with method at path.
	host, method, path string
	// read checks the rest of a request as the service does, and returns what
	// users would see of it; response is what the service returns then.
	read     func(r *http.Request, body []byte) (text string, err error)
	status   int
	response string
}

// about is what a message has in it that is about a container.
func (s service) about(container, watcher string) string {
	switch s.typ {
	case "mqtt":
		// below wud where a WUD_ variable is set, else below dogwatch
		return "/container/" + watcher + "/" + container + " "
	case "kafka":
		return `"name":"` + container + `"`
	}
	return "for container " + container
}

// received holds what arrived at services, by type.
type received map[string]func() []string

// texts returns what arrived at a service that has a piece of text in it.
func (r received) texts(typ, piece string) (found []string) {
	for _, text := range r[typ]() {
		if strings.Contains(text, piece) {
			found = append(found, text)
		}
	}
	return found
}

// strict reads a JSON body that has no other fields than v.
func strict(r *http.Request, body []byte, v any) error {
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		return fmt.Errorf("the content type is %q", got)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// wants compares what a request says in pairs of got and wanted.
func wants(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != pairs[i+1] {
			return fmt.Errorf("got %q, want %q", pairs[i], pairs[i+1])
		}
	}
	return nil
}

// services returns the trigger types that call a service of the internet.
func services() []service {
	set := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	return []service{
		{
			typ: "apprise", options: set("url", "https://apprise.example.com", "urls", "tgram://s3cret-apprise/1"),
			mistake: set("urls", ""), blames: "urls",
			host: "apprise.example.com", method: "POST", path: "/notify", response: `{"error":null}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ URLs, Title, Body, Format, Type string }
				err := strict(r, body, &m)
				return m.Title + "|" + m.Body,
					errors.Join(err, wants(m.URLs, "tgram://s3cret-apprise/1", m.Format, "text", m.Type, "info"))
			},
		},
		{
			typ:     "discord",
			options: set("url", "https://discord.com/api/webhooks/1234/s3cret-discord", "cardlabel", "Update"),
			mistake: set("cardcolor", "green"), blames: "cardcolor",
			host: "discord.com", method: "POST", path: "/api/webhooks/1234/s3cret-discord", response: `{"id":"1"}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct {
					Username string
					Embeds   []struct {
						Title  string
						Color  int
						Fields []struct{ Name, Value string }
					}
				}
				err := strict(r, body, &m)
				if err != nil || len(m.Embeds) != 1 || len(m.Embeds[0].Fields) != 1 {
					return "", fmt.Errorf("want one card with one field: %v", err)
				}
				card := m.Embeds[0]
				return card.Title + "|" + card.Fields[0].Value,
					wants(r.URL.Query().Get("wait"), "true", card.Fields[0].Name, "Update", fmt.Sprint(card.Color), "65280")
			},
		},
		{
			typ: "googlechat",
			options: set("url",
				"https://chat.googleapis.com/v1/spaces/AAAA/messages?key=s3cret-key&token=s3cret-googlechat"),
			mistake: set("messagereplyoption", "MAYBE"), blames: "messagereplyoption",
			host: "chat.googleapis.com", method: "POST", path: "/v1/spaces/AAAA/messages",
			response: `{"name":"spaces/AAAA/messages/1"}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ Text string }
				err := strict(r, body, &m)
				return m.Text,
					errors.Join(err, wants(r.URL.Query().Get("token"), "s3cret-googlechat", r.URL.Query().Get("key"), "s3cret-key"))
			},
		},
		{
			typ:     "gotify",
			options: set("url", "https://gotify.example.com/", "token", "s3cret-gotify", "priority", "5"),
			mistake: set("priority", "-1"), blames: "priority",
			host: "gotify.example.com", method: "POST", path: "/message", response: `{"id":1}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct {
					Title, Message string
					Priority       int
					Extras         map[string]any
				}
				err := strict(r, body, &m)
				return m.Title + "|" + m.Message,
					errors.Join(err, wants(r.Header.Get("X-Gotify-Key"), "s3cret-gotify", fmt.Sprint(m.Priority), "5"))
			},
		},
		{
			typ: "http",
			options: set("url", "https://hooks.example.com/updates?token=s3cret-hook", "auth.user", "ana",
				"auth.password", "s3cret-http", "headers", "X-Key=s3cret-header"), mistake: set("method", "P O S T"),
			blames: "method",
			host:   "hooks.example.com", method: "POST", path: "/updates", response: "ok",
			read: func(r *http.Request, body []byte) (string, error) {
				var c struct {
					Name       string
					UpdateKind struct{ LocalValue, RemoteValue string }
				}
				err := json.Unmarshal(body, &c)
				user, password, _ := r.BasicAuth()
				return fmt.Sprintf("New tag found for container %s|%s|%s", c.Name, c.UpdateKind.LocalValue,
						c.UpdateKind.RemoteValue), errors.Join(err,
						wants(user, "ana", password, "s3cret-http", r.Header.Get("X-Key"), "s3cret-header",
							r.URL.RawQuery, "token=s3cret-hook", r.Header.Get("Content-Type"), "application/json"))
			},
		},
		{
			typ: "ifttt", options: set("key", "s3cret-ifttt"), mistake: set("key", ""), blames: "key",
			host: "maker.ifttt.com", method: "POST", path: "/trigger/wud-image/with/key/s3cret-ifttt",
			response: "Congratulations!",
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ Value1, Value2, Value3 string }
				err := strict(r, body, &m)
				if !json.Valid([]byte(m.Value3)) {
					err = errors.Join(err, errors.New("value3 is no JSON"))
				}
				return fmt.Sprintf("New tag found for container %s|1.0.0|%s", m.Value1, m.Value2), err
			},
		},
		{
			typ: "matrix",
			options: set("url", "https://matrix.example.org", "accesstoken", "s3cret-matrix", "roomid",
				"!room:example.org"), mistake: set("roomid", "room"), blames: "roomid",
			host: "matrix.example.org", method: "PUT",
			path: "/_matrix/client/v3/rooms/{room}/send/m.room.message/{transaction}", response: `{"event_id":"$1"}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct {
					MsgType, Body, Format string
					Formatted             string `json:"formatted_body"`
				}
				err := strict(r, body, &m)
				return m.Body,
					errors.Join(err,
						wants(r.Header.Get("Authorization"), "Bearer s3cret-matrix", r.PathValue("room"),
							"!room:example.org", m.MsgType, "m.text", m.Format, "org.matrix.custom.html"))
			},
		},
		{
			typ:     "mattermost",
			options: set("url", "https://mattermost.example.com/hooks/s3cret-mattermost", "channel", "updates"),
			mistake: set("priority", "high"), blames: "priority",
			host: "mattermost.example.com", method: "POST", path: "/hooks/s3cret-mattermost", response: "ok",
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ Text, Channel string }
				err := strict(r, body, &m)
				return m.Text, errors.Join(err, wants(m.Channel, "updates"))
			},
		},
		{
			typ: "ntfy", options: set("topic", "updates", "auth.token", "s3cret-ntfy", "priority", "4"),
			mistake: set("topic", "up/dates"), blames: "topic",
			host: "ntfy.sh", method: "POST", path: "/", response: `{"id":"1"}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct {
					Topic, Title, Message, Click string
					Priority                     int
				}
				err := strict(r, body, &m)
				return m.Title + "|" + m.Message,
					errors.Join(err,
						wants(r.Header.Get("Authorization"), "Bearer s3cret-ntfy", m.Topic, "updates", fmt.Sprint(m.Priority), "4"))
			},
		},
		{
			typ:     "pushover",
			options: set("user", "s3cret-pushover-user", "token", "s3cret-pushover", "device", "phone,tablet"),
			mistake: set("priority", "2"), blames: "retry",
			host: "api.pushover.net", method: "POST", path: "/1/messages.json", response: `{"status":1,"request":"1"}`,
			read: func(r *http.Request, body []byte) (string, error) {
				form, err := url.ParseQuery(string(body))
				return form.Get("title") + "|" + form.Get("message"),
					errors.Join(err,
						wants(form.Get("user"), "s3cret-pushover-user", form.Get("token"), "s3cret-pushover",
							form.Get("device"), "phone,tablet",
							r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"))
			},
		},
		{
			typ: "rocketchat",
			options: set("url", "https://chat.example.com", "user.id", "s3cret-rocket-user", "auth.token",
				"s3cret-rocketchat", "channel", "#updates"), mistake: set("channel", ""), blames: "channel",
			host: "chat.example.com", method: "POST", path: "/api/v1/chat.postMessage", response: `{"success":true}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ Channel, Text string }
				err := strict(r, body, &m)
				return m.Text,
					errors.Join(err,
						wants(r.Header.Get("X-User-Id"), "s3cret-rocket-user", r.Header.Get("X-Auth-Token"),
							"s3cret-rocketchat", m.Channel, "#updates"))
			},
		},
		{
			typ: "shoutrrr",
			options: set("url",
				"generic://shoutrrr.example.com/hooks/s3cret-shoutrrr?template=json&@X-Key=s3cret-shoutrrr-key"),
			mistake: set("url", "nosuch://service"), blames: "url",
			host: "shoutrrr.example.com", method: "POST", path: "/hooks/s3cret-shoutrrr", response: "ok",
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ Title, Message string }
				err := strict(r, body, &m)
				return m.Title + "|" + m.Message, errors.Join(err, wants(r.Header.Get("X-Key"), "s3cret-shoutrrr-key"))
			},
		},
		{
			typ: "slack", options: set("token", "xoxb-s3cret-slack", "channel", "updates"), mistake: set("channel", ""),
			blames: "channel",
			host:   "slack.com", method: "POST", path: "/api/chat.postMessage", response: `{"ok":true}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct{ Channel, Text string }
				err := strict(r, body, &m)
				return m.Text,
					errors.Join(err, wants(r.Header.Get("Authorization"), "Bearer xoxb-s3cret-slack", m.Channel, "updates"))
			},
		},
		{
			typ: "teams", options: set("url", "https://example.logic.azure.com/workflows/1/invoke?sig=s3cret-teams"),
			mistake: set("cardversion", "3"), blames: "cardversion",
			host: "example.logic.azure.com", method: "POST", path: "/workflows/1/invoke", status: http.StatusAccepted,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct {
					Type        string
					Attachments []struct {
						ContentType string
						Content     struct {
							Type string
							Body []struct{ Text string }
						}
					}
				}
				if err := json.Unmarshal(body, &m); err != nil || len(m.Attachments) != 1 ||
					len(m.Attachments[0].Content.Body) != 2 {
					return "", fmt.Errorf("want one card with title and body: %v", err)
				}
				card := m.Attachments[0]
				return card.Content.Body[0].Text + "|" + card.Content.Body[1].Text,
					wants(r.URL.Query().Get("sig"), "s3cret-teams", m.Type, "message", card.ContentType,
						"application/vnd.microsoft.card.adaptive", card.Content.Type, "AdaptiveCard")
			},
		},
		{
			typ: "telegram", options: set("bottoken", "123456:s3cret-telegram", "chatid", "-1009876543210"),
			mistake: set("messageformat", "BBCode"), blames: "messageformat",
			host: "api.telegram.org", method: "POST", path: "/bot123456:s3cret-telegram/sendMessage",
			response: `{"ok":true,"result":{"message_id":1}}`,
			read: func(r *http.Request, body []byte) (string, error) {
				var m struct {
					ChatID    string `json:"chat_id"`
					ParseMode string `json:"parse_mode"`
					Text      string
				}
				err := strict(r, body, &m)
				return strings.ReplaceAll(m.Text, `\`, ""),
					errors.Join(err, wants(m.ChatID, "-1009876543210", m.ParseMode, "MarkdownV2"))
			},
		},
	}
}

// services puts services on the internet and notes what arrives. A request that
// a service would refuse fails the test, and is refused.
func (n *internet) services(t *testing.T, all []service, r received) {
	for _, s := range all {
		box := &inbox{}
		r[s.typ] = box.all
		n.site(s.host).HandleFunc(s.method+" "+s.path, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the caller gave up
			}
			text, err := s.read(r, body)
			if err != nil {
				t.Errorf("%s: %v in %s", s.typ, err, body)
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			box.add(text)
			if s.status != 0 {
				w.WriteHeader(s.status)
			}
			_, _ = io.WriteString(w, s.response)
		})
	}
}
