package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/sink"
)

const (
	token  = "110201543:recognisable-token"
	chatID = "-1001234567890"
)

// service plays the Bot API: it refuses what Telegram refuses.
func service(t testing.TB) *sink.Sink {
	return sink.New(t, func(c sink.Call) (int, string) {
		switch problem := wrong(c); {
		case c.URI != "/bot"+token+"/sendMessage":
			return http.StatusNotFound, `{"ok":false,"error_code":404,"description":"Not Found"}`
		case problem != "":
			return http.StatusBadRequest, fmt.Sprintf(`{"ok":false,"error_code":400,"description":%q}`, "Bad Request: "+problem)
		}
		return http.StatusOK, `{"ok":true,"result":{"message_id":1}}`
	})
}

// wrong says what is wrong with a request, by the documentation of sendMessage.
func wrong(c sink.Call) string {
	var m struct {
		ChatID              string `json:"chat_id"`
		MessageThreadID     *int   `json:"message_thread_id"`
		Text                string `json:"text"`
		ParseMode           string `json:"parse_mode"`
		DisableNotification bool   `json:"disable_notification"`
		ReplyMarkup         struct {
			Rows [][]button `json:"inline_keyboard"`
		} `json:"reply_markup"`
	}
	if problem := c.Strict(&m); problem != "" || c.Method != "POST" {
		return "wrong parameter: " + problem
	}
	if m.ChatID != chatID || m.MessageThreadID != nil && *m.MessageThreadID < 1 {
		return "chat not found"
	}
	for _, row := range m.ReplyMarkup.Rows {
		for _, b := range row {
			if u, err := url.Parse(b.URL); err != nil || !strings.Contains(u.Hostname(), ".") || b.Text == "" || len(row) > 8 {
				return fmt.Sprintf("inline keyboard button URL '%s' is invalid: Wrong HTTP URL", b.URL)
			}
		}
	}
	plain, err := read(m.ParseMode, m.Text)
	if err != nil {
		return "can't parse entities: " + err.Error()
	}
	return unfit(plain)
}

// unfit says why a text, without its markup, is refused.
func unfit(plain string) string {
	switch {
	case strings.TrimSpace(plain) == "":
		return "message text is empty"
	case sink.UTF16(plain) > 4096:
		return "message is too long"
	}
	return ""
}

// read returns what is left of a text when its markup is read, as Telegram
// does: https://core.telegram.org/bots/api#formatting-options. Of all markup it
// knows bold, the only one that is sent; anything else is an error.
func read(mode, text string) (string, error) {
	switch mode {
	case "MarkdownV2":
		return readMarkdown(text)
	case "HTML":
		return readHTML(text)
	}
	return "", fmt.Errorf("unsupported parse_mode %q", mode)
}

func readMarkdown(text string) (string, error) {
	var plain strings.Builder
	escaped, bold := false, -1
	for i, c := range text {
		switch {
		case escaped && (c < 1 || c > 126):
			return "", fmt.Errorf("%q at %d cannot be escaped", c, i)
		case escaped:
			escaped = false
			plain.WriteRune(c)
		case c == '\\':
			escaped = true
		case c == '*' && bold < 0:
			bold = plain.Len()
		case c == '*' && bold == plain.Len():
			return "", errors.New("bold around nothing")
		case c == '*':
			bold = -1
		case strings.ContainsRune("_[]()~`>#+-=|{}.!", c):
			return "", fmt.Errorf("character %q at %d is reserved and must be escaped", c, i)
		default:
			plain.WriteRune(c)
		}
	}
	if escaped || bold >= 0 {
		return "", errors.New("the text ends inside of markup")
	}
	return plain.String(), nil
}

func readHTML(text string) (string, error) {
	var plain strings.Builder
	bold := false
	for text != "" {
		next := strings.IndexAny(text, "<>&")
		if next < 0 {
			plain.WriteString(text)
			break
		}
		plain.WriteString(text[:next])
		text = text[next:]
		read := ""
		for _, known := range []struct{ from, to string }{
			{"<b>", ""}, {"</b>", ""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", `"`},
		} {
			if strings.HasPrefix(text, known.from) {
				read = known.from
				plain.WriteString(known.to)
			}
		}
		if read == "" || (read == "<b>") == bold && strings.HasSuffix(read, "b>") {
			return "", fmt.Errorf("unsupported markup at %q", text)
		}
		if strings.HasSuffix(read, "b>") {
			bold = !bold
		}
		text = text[len(read):]
	}
	if bold {
		return "", errors.New("the text ends inside of markup")
	}
	return plain.String(), nil
}

// A judge that accepts everything is none.
func TestServiceParsesMarkup(t *testing.T) {
	tests := []struct{ mode, text, want string }{
		{"MarkdownV2", `*a\.b* c\\\-`, `a.b c\-`}, {"MarkdownV2", "a.b", ""}, {"MarkdownV2", `a\`, ""},
		{"MarkdownV2", "*a", ""},
		{"MarkdownV2", "**", ""}, {"MarkdownV2", `\é`, ""}, {"MarkdownV2", "- item", ""}, {"MarkdownV2", "a_b_", ""},
		{"HTML", "<b>a</b> &lt;&amp;&gt; \"", `a <&> "`}, {"HTML", "a < b", ""}, {"HTML", "a &copy; b", ""},
		{"HTML", "<b>a", ""},
		{"HTML", "a</b>", ""}, {"HTML", "<b><b>a</b></b>", ""}, {"HTML", "<i>a</i>", ""}, {"HTML", "a & b", ""},
		{"HTML", "&am", ""},
		{"Markdown", "a", ""},
	}
	for _, test := range tests {
		if got, err := read(test.mode, test.text); got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s %q: %q, %v", test.mode, test.text, got, err)
		}
	}
}
