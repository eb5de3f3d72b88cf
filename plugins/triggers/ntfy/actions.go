package ntfy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// maxActions is how many buttons a message can have: https://docs.ntfy.sh/publish/#action-buttons.
	maxActions = 3
	// maxActionsBytes leaves the better part of a message to its text.
	maxActionsBytes = 2048
)

// action is a button below a message.
type action struct {
	Action  string            `json:"action"`
	Label   string            `json:"label"`
	Clear   bool              `json:"clear,omitempty"`
	URL     string            `json:"url,omitempty"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Intent  string            `json:"intent,omitempty"`
	Extras  map[string]string `json:"extras,omitempty"`
	Value   string            `json:"value,omitempty"`
}

// parseActions reads both forms that ntfy documents: a JSON array, and the
// short one, "view, Open, https://example.org, clear=true; http, …". Errors
// name the action by its number and repeat no value, which may be secret.
func parseActions(text string) ([]action, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	read := readShort
	if strings.HasPrefix(text, "[") {
		read = readJSON
	}
	actions, err := read(text)
	if err != nil {
		return nil, err
	}
	if len(actions) > maxActions {
		return nil, sdk.Invalid("actions", "a message has at most %d actions, got %d", maxActions, len(actions))
	}
	for i := range actions {
		if problem := actions[i].problem(); problem != "" {
			return nil, sdk.Invalid("actions", "action %d: %s", i+1, problem)
		}
	}
	payload, err := httpclient.EncodeJSON(actions)
	if err == nil && len(payload) > maxActionsBytes {
		return nil, sdk.Invalid("actions", "take %d bytes as JSON, want at most %d", len(payload), maxActionsBytes)
	}
	return actions, err
}

func readJSON(text string) ([]action, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	var actions []action
	if err := decoder.Decode(&actions); err != nil {
		return nil,
			sdk.Invalid("actions",
				"want a JSON array of actions as ntfy documents it, or the short form: view, label, https://…")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, sdk.Invalid("actions", "something follows the JSON array")
	}
	return actions, nil
}

// problem returns what is wrong with an action after making its words those of ntfy.
func (a *action) problem() string {
	a.Action, a.Method = strings.ToLower(a.Action), strings.ToUpper(a.Method)
	withURL := a.Action == "view" || a.Action == "http"
	switch {
	case !withURL && a.Action != "broadcast" && a.Action != "copy":
		return "must start with view, http, broadcast or copy"
	case a.Label == "":
		return "needs a label after " + a.Action
	case withURL && !isLink(a.URL):
		return "needs a url after its label that starts with http:// or https://"
	case a.Action == "copy" && a.Value == "":
		return "needs a value after its label"
	case a.Body != "" && (a.Method == "GET" || a.Method == "HEAD"):
		return "has a body, which " + a.Method + " does not send"
	}
	return ""
}

// isLink reports whether an address is one of the web.
func isLink(text string) bool {
	_, err := webaddress.Parse(text)
	return err == nil
}

// readShort reads the short form.
func readShort(text string) ([]action, error) {
	var actions []action
	for text != "" {
		a := action{Headers: map[string]string{}, Extras: map[string]string{}}
		for position, more := 0, true; more; position++ {
			var key, value, problem string
			key, value, text, more, problem = nextField(text)
			if problem == "" && (key != "" || value != "") {
				problem = a.set(position, key, value)
			}
			if problem != "" {
				return nil, sdk.Invalid("actions", "action %d, part %d: %s", len(actions)+1, position+1, problem)
			}
		}
		actions = append(actions, a)
		text = strings.TrimSpace(text)
	}
	return actions, nil
}

// nextField cuts the first part off the rest of the short form: key=value or
// value. more says whether the action goes on after it.
func nextField(text string) (key, value, rest string, more bool, problem string) {
	text = strings.TrimSpace(text)
	if name, after, found := strings.Cut(text, "="); found && isKey(strings.TrimSpace(name)) {
		key, text = strings.TrimSpace(name), strings.TrimLeft(after, " \t\r\n")
	}
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		quote := text[:1]
		end := 1
		for end < len(text) && text[end] != quote[0] {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			return "", "", "", false, "a quote is not closed"
		}
		value = strings.ReplaceAll(text[1:end], `\`+quote, quote)
		text = strings.TrimSpace(text[end+1:])
		if text != "" && text[0] != ',' && text[0] != ';' {
			return "", "", "", false, "something follows the closing quote"
		}
	} else {
		end := strings.IndexAny(text, ",;")
		if end < 0 {
			end = len(text)
		}
		value, text = strings.TrimSpace(text[:end]), text[end:]
	}
	if text == "" {
		return key, value, "", false, ""
	}
	return key, value, text[1:], text[0] == ',', ""
}

func isKey(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// set gives the action one part. Without a key the position says what it is.
func (a *action) set(position int, key, value string) (problem string) {
	if key == "" {
		if position > 2 {
			return "want key=value"
		}
		key = []string{"action", "label", "url"}[position]
		if position == 2 && strings.EqualFold(a.Action, "copy") {
			key = "value"
		}
	}
	if name, found := strings.CutPrefix(key, "headers."); found {
		a.Headers[name] = value
		return ""
	}
	if name, found := strings.CutPrefix(key, "extras."); found {
		a.Extras[name] = value
		return ""
	}
	texts := map[string]*string{
		"action": &a.Action, "label": &a.Label, "url": &a.URL, "method": &a.Method, "body": &a.Body,
		"intent": &a.Intent, "value": &a.Value,
	}
	key = strings.ToLower(key)
	if text, known := texts[key]; known {
		*text = value
		return ""
	}
	if key != "clear" {
		return "want one of the keys action, label, url, clear, method, headers.…, body, intent, extras.… and value"
	}
	yes := slices.Contains([]string{"true", "yes", "1"}, strings.ToLower(value))
	if !yes && !slices.Contains([]string{"false", "no", "0"}, strings.ToLower(value)) {
		return "clear is true or false"
	}
	a.Clear = yes
	return ""
}

// secretsOf are the texts of actions that a response could repeat.
func secretsOf(actions []action) []string {
	var secrets []string
	for _, a := range actions {
		for _, value := range a.Headers {
			_, credentials, _ := strings.Cut(value, " ")
			secrets = append(secrets, value, credentials)
		}
		if u, err := url.Parse(a.URL); err == nil && a.Action == "http" {
			secrets = append(secrets, httpclient.SecretParts(u)...)
		}
		secrets = append(secrets, a.Body, a.Value)
	}
	return secrets
}
