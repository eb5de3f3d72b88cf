package smtp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// maxSubject keeps a subject readable in a list of mails, and its line far
// below the 998 characters of RFC 5322 section 2.1.1.
const maxSubject = 250

// compose makes the mail of a delivery: plain text in UTF-8, and the same with buttons
// if there is something to decide.
func (s *smtp) compose(req trigger.Request, now time.Time) *gomail.Msg {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(s.from)
	m.ToMailAddress(s.to...)
	m.Subject(subject(req.Title))
	m.SetDateWithValue(now)
	id := s.messageID(req.Delivery, now)
	m.SetMessageIDWithValue(id)
	m.SetBoundary(id[:32])                             // which no text can guess
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: prevents automatic replies
	if s.agent != "" {
		m.SetUserAgent(s.agent)
	}
	m.SetBodyString(gomail.TypeTextPlain,
		req.Body+message.Lines(req, maxLink, "\n", func(label, address string) string { return label + ": " + address }))
	if html := page(req); html != "" {
		m.AddAlternativeString(gomail.TypeTextHTML, html)
	}
	return m
}

// subject is a title on one line.
func subject(title string) string {
	title = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, title)
	title, _ = httpclient.Truncate(strings.TrimSpace(title), maxSubject)
	return title
}

// messageID is the idempotency key: it is the same for each attempt of a delivery,
// so that a mail that was accepted without a confirmation shows once.
func (s *smtp) messageID(delivery string, now time.Time) string {
	delivery = cmp.Or(delivery, now.Format(time.RFC3339Nano))
	sum := sha256.Sum256([]byte(s.instance + "\x00" + delivery))
	return hex.EncodeToString(sum[:16]) + "@" + s.from.Address[strings.LastIndexByte(s.from.Address, '@')+1:]
}
