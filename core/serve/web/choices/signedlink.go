package choices

import (
	"net/http"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/signedlink"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
)

// linkPage asks for what a link stands for, or says what has become of it. Who has
// the link needs no login, so the page shows the update of the link and nothing else.
type linkPage struct {
	Theme string
	// Title says what the page is about. Done, which is no mistake, and Wrong are sentences; one of them, or Used, stands
	// where there is nothing to ask.
	Title, Done, Wrong phrase.Phrase
	// Path takes the form; "" when there is nothing to ask.
	Path        string
	Buttons     []linkButton
	Name, Image string
	From, Kind  string
	To          phrase.Phrase
	// Link is the page of the release.
	Link string
	// Reasons say what holds the update now, and Advice what it takes as a major one; nil for nothing.
	Reasons []phrase.Phrase
	Advice  phrase.Phrase
	// Snoozes are until when.
	Snoozes []snoozeOption
	// Trigger is whose message the link is in, Expires when it ends, and Left the time until then.
	Trigger string
	Expires time.Time
	Left    phrase.Phrase
	// Used is when the link was used; zero for never.
	Used time.Time
	// Snoozed says until when the update is snoozed; nil where it is not.
	Snoozed phrase.Phrase
}

// linkButton is one thing that can be decided, and what follows from it.
type linkButton struct {
	Action         choice.Kind
	Label, Meaning phrase.Phrase
	// Snoozes is true for the one that takes until when.
	Snoozes bool
}

// linkButtons are all that a link can stand for.
var linkButtons = []linkButton{
	{choice.Approved, phrase.New("Approve"), phrase.New("Dogwatch installs this version in the next update window, or right away if there is none. Your rules for versions do not apply to it"), false},
	{choice.Skip, phrase.New("Skip this version"), phrase.New("Dogwatch ignores this version and offers the next one"), false},
	{choice.Snooze, phrase.New("Snooze"), phrase.New("Dogwatch does not offer an update of this container for as long as you choose"), true},
}

// snoozeOption is how long to snooze. 0 days are until the next version.
type snoozeOption struct {
	Days  int
	Label phrase.Phrase
	Usual bool
}

var snoozeOptions = []snoozeOption{
	{1, phrase.New("for a day"), false}, {3, phrase.New("for three days"), false}, {7, phrase.New("for a week"), true}, {30, phrase.New("for a month"), false},
	{0, phrase.New("until the next version"), false},
}

// showLink shows what a link stands for. It changes nothing: scanners, previews and
// prefetching proxies open every link of a message.
func (h *Handler) showLink(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	switch {
	case token == signedlink.SampleToken:
		h.renderLink(w, r, http.StatusOK, linkPage{
			Title: phrase.New("The links work"),
			Done:  phrase.New("This link is in a sample message, so there is nothing to decide. In a message about an update it leads to a page that asks for your decision"),
		})
		return
	case !h.links.Enabled():
		h.renderLink(w, r, http.StatusNotFound, linksOff)
		return
	}
	shown, err := h.links.Show(r.Context(), token)
	if err != nil {
		h.renderLinkError(w, r, shown, err)
		return
	}
	h.renderLink(w, r, http.StatusOK, h.question(shown, token))
}

var linksOff = linkPage{
	Title: phrase.New("Links are off"),
	Wrong: phrase.New("This Dogwatch accepts no links of messages: its settings links.enabled or public.url are not set. Open its pages to decide about updates"),
}

// about returns a page about the update of a link, without its question.
func (h *Handler) about(shown signedlink.Shown) linkPage {
	c, k := &shown.Container, shown.Update
	p := linkPage{From: words.Tag(k.FromTag), To: phrase.Verbatim(words.Tag(k.ToTag)), Trigger: shown.Trigger}
	if k.Kind == sdk.KindDigest {
		p.From, p.To = words.Tag(k.FromTag), phrase.New("rebuilt: %s", words.Digest(k.ToDigest))
	}
	_, p.Name, _ = strings.Cut(k.Subject, "/")
	if !shown.Known {
		return p
	}
	p.Name, p.Image = words.Name(c), reference.Short(c.Image.Registry.Host, c.Image.Name)
	if c.Result != nil && c.Result.Tag == k.ToTag {
		p.Kind, p.Link = tally.Kind(c), webaddress.Of(c.Result.Link)
		p.Advice, _ = h.service.MajorAdvice(*c)
	}
	if c.Decision != nil {
		for _, reason := range c.Decision.Reasons {
			p.Reasons = append(p.Reasons, phrase.Capital(phrase.Change(preview.Lasting(reason), h.service.Redact)))
		}
	}
	return p
}

// question returns the page with the question of a link.
func (h *Handler) question(shown signedlink.Shown, token string) linkPage {
	p := h.about(shown)
	p.Path, p.Expires, p.Snoozes = "/decide/"+token, shown.Expires, snoozeOptions
	p.Left = words.Whole(shown.Expires.Sub(h.Now()))
	for _, b := range linkButtons {
		if b.Action == shown.Action || shown.Action == signedlink.Any && (b.Action != choice.Approved || shown.MayApprove) {
			p.Buttons = append(p.Buttons, b)
		}
	}
	switch shown.Action {
	case choice.Approved:
		p.Title = phrase.New("Approve the update of %s?", p.Name)
	case choice.Skip:
		p.Title = phrase.New("Skip this version of %s?", p.Name)
	case choice.Snooze:
		p.Title = phrase.New("Snooze the update of %s?", p.Name)
	default:
		p.Title = phrase.New("What about the update of %s?", p.Name)
	}
	return p
}

func (h *Handler) renderLink(w http.ResponseWriter, r *http.Request, status int, p linkPage) {
	p.Theme = page.Theme(r)
	w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	h.Render(w, r, status, "link", "link.html", p)
}
