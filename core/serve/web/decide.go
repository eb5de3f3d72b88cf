package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/link"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/internal/weblink"
	"github.com/dogwatch/dogwatch/sdk"
)

// Links redeem the signed links of messages; see link.Links.
type Links interface {
	Show(ctx context.Context, token string) (link.Shown, error)
	Redeem(ctx context.Context, token string, action policy.ChoiceKind, until time.Time) (link.Shown, error)
}

// decidePage asks for what a link stands for, or says what has become of it. Who has
// the link needs no login, so the page shows the update of the link and nothing else.
type decidePage struct {
	Theme string
	// Title says what the page is about. Done and Wrong are sentences; one of them
	// stands where there is nothing to ask.
	Title, Done, Wrong string
	// Path takes the form; "" when there is nothing to ask.
	Path           string
	Buttons        []decideButton
	Name, Image    string
	From, To, Kind string
	// Link is the page of the release.
	Link string
	// Reasons say what holds the update now.
	Reasons []string
	// Snoozes are until when.
	Snoozes []snoozeChoice
	// Trigger is whose message the link is in, Expires when it ends.
	Trigger string
	Expires time.Time
}

// decideButton is one thing that can be decided, and what follows from it.
type decideButton struct {
	Action         policy.ChoiceKind
	Label, Meaning string
	// Snoozes is true for the one that takes until when.
	Snoozes bool
}

// decideButtons are all that a link can stand for.
var decideButtons = []decideButton{
	{policy.Approved, "Approve", "this version is taken whatever its age, in the next window if there is one", false},
	{policy.Skip, "Skip this version", "it is not offered again, and the next version is", false},
	{policy.Snooze, "Snooze", "it is not offered in the meantime, and then once more", true},
}

// snoozeChoice is how long to snooze. 0 days are until the next version.
type snoozeChoice struct {
	Days  int
	Label string
	Usual bool
}

var snoozeChoices = []snoozeChoice{
	{1, "for a day", false}, {3, "for three days", false}, {7, "for a week", true}, {30, "for a month", false},
	{0, "until the next version", false},
}

// showDecision shows what a link stands for. It changes nothing: scanners, previews and
// prefetching proxies open every link of a message.
func (u *UI) showDecision(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	switch {
	case token == link.SampleToken:
		u.renderDecision(w, r, http.StatusOK, decidePage{
			Title: "The links work",
			Done:  "This link is in a sample message, so there is nothing to decide. In a message about an update it leads to a page that asks for your decision",
		})
		return
	case u.Links == nil:
		u.renderDecision(w, r, http.StatusNotFound, linksOff)
		return
	}
	shown, err := u.Links.Show(r.Context(), token)
	if err != nil {
		u.renderLinkError(w, r, shown, err)
		return
	}
	u.renderDecision(w, r, http.StatusOK, u.question(shown, token))
}

var linksOff = decidePage{
	Title: "Links are off",
	Wrong: "This Dogwatch accepts no links of messages: its settings links.enabled or public.url are not set. Open its pages to decide about updates",
}

// decide does what a link stands for.
func (u *UI) decide(w http.ResponseWriter, r *http.Request) {
	if u.Links == nil {
		u.renderDecision(w, r, http.StatusNotFound, linksOff)
		return
	}
	if !u.Form(w, r) {
		return
	}
	token := r.PathValue("token")
	until, ok := u.snoozeEnd(r.PostForm)
	if !ok {
		u.renderDecision(w, r, http.StatusUnprocessableEntity, decidePage{
			Title: "Nothing was decided", Wrong: "The form is not understood. Open the link again",
		})
		return
	}
	shown, err := u.Links.Redeem(r.Context(), token, policy.ChoiceKind(r.PostFormValue("action")), until)
	log := u.Log.With("trigger", shown.Trigger, "container", shown.Update.Subject, "action", shown.Use.Action,
		"address", u.ActorOf(r).ClientAddress())
	switch {
	case errors.Is(err, link.ErrChoice):
		p := u.question(shown, token)
		p.Wrong = words.Capital(err.Error())
		u.renderDecision(w, r, http.StatusUnprocessableEntity, p)
		return
	case err != nil:
		log.Info("a link was refused", "error", err)
		u.renderLinkError(w, r, shown, err)
		return
	}
	log.Info("decided with a link")
	p := u.about(shown)
	chosen := policy.ChoiceKind(shown.Use.Action)
	p.Title, p.Done = doneTitles[chosen], doneSentence(chosen, until)
	u.renderDecision(w, r, http.StatusOK, p)
}

// snoozeEnd returns when a snooze ends, as a form says. The form of several actions
// has that for the others too.
func (u *UI) snoozeEnd(form url.Values) (until time.Time, ok bool) {
	days := form.Get("days")
	if days == "" || days == "0" || form.Get("action") != "" && form.Get("action") != string(policy.Snooze) {
		return time.Time{}, true
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return u.Now().AddDate(0, 0, int(n)), err == nil
}

// about returns a page about the update of a link, without its question.
func (u *UI) about(shown link.Shown) decidePage {
	c, k := &shown.Container, shown.Update
	p := decidePage{From: words.Tag(k.FromTag), To: words.Tag(k.ToTag), Trigger: shown.Trigger}
	if k.Kind == sdk.KindDigest {
		p.From, p.To = words.Tag(k.FromTag), "rebuilt: "+words.Digest(k.ToDigest)
	}
	_, p.Name, _ = strings.Cut(k.Subject, "/")
	if !shown.Known {
		return p
	}
	p.Name, p.Image = words.Name(c), reference.Short(c.Image.Registry.Host, c.Image.Name)
	if c.Result != nil && c.Result.Tag == k.ToTag {
		p.Kind, p.Link = tally.Kind(c), weblink.Of(c.Result.Link)
	}
	if c.Decision != nil {
		for _, reason := range c.Decision.Reasons {
			text := words.Capital(u.Service.Redact(reason.Text))
			if !reason.Until.IsZero() {
				text += ", until " + words.Exact(reason.Until.Time)
			}
			p.Reasons = append(p.Reasons, text)
		}
	}
	return p
}

// question returns the page with the question of a link.
func (u *UI) question(shown link.Shown, token string) decidePage {
	p := u.about(shown)
	p.Path, p.Expires, p.Snoozes = "/decide/"+token, shown.Expires, snoozeChoices
	for _, b := range decideButtons {
		if b.Action == shown.Action || shown.Action == link.Any && (b.Action != policy.Approved || shown.MayApprove) {
			p.Buttons = append(p.Buttons, b)
		}
	}
	switch shown.Action {
	case policy.Approved:
		p.Title = "Approve the update of " + p.Name + "?"
	case policy.Skip:
		p.Title = "Skip this version of " + p.Name + "?"
	case policy.Snooze:
		p.Title = "Snooze the update of " + p.Name + "?"
	default:
		p.Title = "What about the update of " + p.Name + "?"
	}
	return p
}

var doneTitles = map[policy.ChoiceKind]string{
	policy.Approved: "Approved", policy.Skip: "Skipped", policy.Snooze: "Snoozed",
}

// doneSentence says what follows from a decision.
func doneSentence(chosen policy.ChoiceKind, until time.Time) string {
	switch {
	case chosen == policy.Approved:
		return "The update is approved. You can close this page"
	case chosen == policy.Skip:
		return "This version is not offered again, the next one is. You can close this page"
	case until.IsZero():
		return "It is offered again with the next version. You can close this page"
	}
	return "It is offered again from " + words.Exact(until) + " on. You can close this page"
}

// linkErrors are the statuses and titles of the reasons for which a link is refused.
var linkErrors = []struct {
	err    error
	status int
	title  string
	help   string
}{
	{link.ErrInvalid, http.StatusNotFound, "This link is not valid",
		"Copy all of it from the message, or open the pages of Dogwatch to decide"},
	{link.ErrExpired, http.StatusGone, "This link has expired",
		"A later message has another one, and the pages of Dogwatch let you decide too"},
	{link.ErrRevoked, http.StatusGone, "This link was revoked", "Open the pages of Dogwatch to decide"},
	{link.ErrGone, http.StatusGone, "There is nothing to decide any more",
		"What this link is about is no longer offered: the container was updated or removed, or there is something newer"},
}

// renderLinkError says why a link is refused.
func (u *UI) renderLinkError(w http.ResponseWriter, r *http.Request, shown link.Shown, err error) {
	p := u.about(shown)
	if errors.Is(err, link.ErrUsed) {
		kind := policy.ChoiceKind(shown.Use.Action)
		p.Title = doneTitles[kind]
		p.Done = "This link was used on " + words.Exact(shown.Use.At) +
			", and works once. To change that, open the pages of Dogwatch"
		u.renderDecision(w, r, http.StatusGone, p)
		return
	}
	for _, known := range linkErrors {
		if errors.Is(err, known.err) {
			p.Title, p.Wrong = known.title, known.help
			u.renderDecision(w, r, known.status, p)
			return
		}
	}
	if r.Context().Err() != nil {
		return
	}
	u.Log.Error("redeem a link", "trigger", shown.Trigger, "container", shown.Update.Subject, "error", err)
	u.renderDecision(w, r, http.StatusInternalServerError, decidePage{
		Title: "This did not work", Wrong: "Dogwatch could not do it; its log has the details. Try the link again later",
	})
}

func (u *UI) renderDecision(w http.ResponseWriter, r *http.Request, status int, p decidePage) {
	p.Theme = page.Theme(r)
	w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	u.Render(w, r, status, "decide", "decide.html", p)
}
