package telegram

import (
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxButtons is how many buttons a keyboard has at most, maxURL how long a link is.
	maxButtons = 99
	maxURL     = 1000
)

// keyboard is below a message: https://core.telegram.org/bots/api#inlinekeyboardmarkup.
type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

type button struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// keyboardOf returns the buttons to decide about the updates of a message, a row for each
// container; nil when there are none.
func keyboardOf(req trigger.Request) *keyboard {
	rows := message.Rows(req, maxURL, maxButtons, func(a trigger.Action) button { return button{a.Label, a.URL} })
	if rows == nil {
		return nil
	}
	return &keyboard{rows}
}

// refusesButtons reports whether Telegram does not take the addresses of buttons.
func refusesButtons(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "BUTTON_URL_INVALID") || strings.Contains(text, "keyboard button URL") ||
		strings.Contains(text, "Wrong HTTP URL")
}
