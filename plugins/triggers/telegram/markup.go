package telegram

import (
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
)

// maxText is how long a text can be in UTF-16 code units, markup not counted:
// https://core.telegram.org/bots/api#sendmessage.
const maxText = 4096

// markup is one of Telegram's ways to write texts:
// https://core.telegram.org/bots/api#formatting-options.
type markup struct {
	mode         string
	bold, unbold string
	escape       func(string) string
}

var (
	markdown = markup{"MarkdownV2", "*", "*", escapeMarkdown}
	html     = markup{"HTML", "<b>", "</b>", escapeHTML}
)

// text is a message with its title in bold. It is cut before anything is
// escaped, since Telegram counts what is left after it read the markup: so a
// cut falls into no escape either.
func (m markup) text(text chat.Message) string {
	body := chat.Fit(text.Body, func(body string) bool { return chat.Units(chat.Join(text.Title, body)) <= maxText })
	return chat.Join(chat.Wrap(m.bold, m.escape(text.Title), m.unbold), m.escape(body))
}

// reserved are the characters that are markup somewhere in MarkdownV2:
// https://core.telegram.org/bots/api#markdownv2-style.
const reserved = "_*[]()~`>#+-=|{}.!\\"

func escapeMarkdown(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, c := range text {
		if strings.ContainsRune(reserved, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// escapeHTML writes the characters of https://core.telegram.org/bots/api#html-style as entities.
func escapeHTML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
