package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// undoChoices is the action of forms that undo what was decided.
	undoChoices = "undo"
	// untilNext is the value of a snooze that lasts until the next version.
	untilNext = "next"
)

// chooser is the form with which a user decides about the updates of containers.
type chooser struct {
	// Back is the page to return to.
	Back  string
	Items []chooserItem
	// Several is true on the page about a selection, where a container is left out by its box.
	Several bool
	// Sure is true where to approve was confirmed: it may begin an update.
	Sure bool
	// May is whether a watcher of theirs can update containers, Approve whether approving one has an effect.
	May     bool
	Approve bool
	Snoozes []page.SelectOption
	// Tomorrow is the first day that a snooze can last until.
	Tomorrow string
}

// chooserItem is one container of a chooser.
type chooserItem struct {
	Key, Name, Href, Current string
	// Versions are those that can be decided about, the one that is offered or held first.
	Versions []page.SelectOption
}

// madeChoice is what was decided about the updates of a container.
type madeChoice struct {
	Words string // "Skipped 9.0.0"
	By    string
	At    time.Time
	// Until is when it ends; zero when it does not by itself.
	Until time.Time
}

// snoozePresets are for how long updates are snoozed.
func snoozePresets() []page.SelectOption {
	return []page.SelectOption{{Value: "1", Word: "until tomorrow"}, {Value: "7", Word: "for a week", Chosen: true}, {Value: "30", Word: "for a month"},
		{Value: untilNext, Word: "until the next version"}}
}

// versionsToChoose are the versions of the update of a container.
func versionsToChoose(c *sdk.Container, chosen string) []page.SelectOption {
	if !c.UpdateAvailable || c.Result == nil {
		return nil
	}
	target := update.KeyOf(c).To()
	word := words.Tag(c.Result.Tag)
	if c.UpdateKind.Kind == sdk.KindDigest {
		word = words.Digest(target)
	}
	if kind := tally.Kind(c); kind != "" {
		word += " (" + tally.Word(kind) + ")"
	}
	all := []page.SelectOption{{Value: target, Word: word, Chosen: target == chosen}}
	if c.Result.Levels == nil {
		return all
	}
	for _, level := range []struct {
		word string
		of   *sdk.Release
	}{{sdk.DiffPatch, c.Result.Levels.Patch}, {sdk.DiffMinor, c.Result.Levels.Minor},
		{sdk.DiffMajor, c.Result.Levels.Major}} {
		if level.of != nil && level.of.Tag != c.Result.Tag {
			all = append(all, page.SelectOption{
				Value: level.of.Tag, Word: level.of.Tag + " (" + level.word + ")", Chosen: level.of.Tag == chosen,
			})
		}
	}
	return all
}

// chooserOf returns the form about the updates of containers; nil for one who may not decide,
// or where there is no update. given are the versions that the address names.
func (u *UI) chooserOf(r *http.Request, chosen []sdk.Container, given url.Values) *chooser {
	if !u.MayChoose(r) {
		return nil
	}
	f := &chooser{Snoozes: snoozePresets(), Tomorrow: u.Now().AddDate(0, 0, 1).Format(time.DateOnly)}
	for i := range chosen {
		c := &chosen[i]
		key := c.Watcher + "/" + c.Name
		if versions := versionsToChoose(c, given.Get("version:"+key)); versions != nil {
			f.Items = append(f.Items, chooserItem{
				Key: key, Name: words.Name(c), Href: page.PathOf(c), Current: words.Tag(c.Image.Tag.Value), Versions: versions,
			})
			f.Approve = f.Approve || c.Base == nil
			f.May = f.May || u.carriesOut(r, c)
		}
	}
	if len(f.Items) == 0 {
		return nil
	}
	return f
}

// madeOf are the choices about a container that are in force, as users read them; of is nil
// when it is gone.
func madeOf(all []policy.Choice, of *sdk.Container, now time.Time) []madeChoice {
	var made []madeChoice
	for _, c := range all {
		ended := c.Kind == policy.Snooze && !c.Until.IsZero() && !c.Until.After(now)
		if ended || of != nil && reached(c, of) {
			continue
		}
		version := c.Version()
		if c.Update.Kind == sdk.KindDigest {
			version = "the image " + words.Digest(version)
		}
		m := madeChoice{By: c.Actor, At: c.At.Time, Until: c.Until.Time}
		switch {
		case c.Kind == policy.Skip:
			m.Words = "Skipped " + version
		case c.Kind == policy.Approved:
			m.Words = "Approved " + version
		case m.Until.IsZero():
			m.Words = "Snoozed " + version + " until the next version"
		default:
			m.Words = "Snoozed"
		}
		made = append(made, m)
	}
	return made
}

// reached reports whether a container runs the version that a choice is about.
func reached(c policy.Choice, of *sdk.Container) bool {
	if c.Update.Kind == sdk.KindDigest {
		return c.Update.ToDigest == of.Image.Digest.Repo
	}
	return c.Update.Kind == sdk.KindTag && c.Update.ToTag == of.Image.Tag.Value
}

// showChooser renders the page on which a user decides about the containers that the address names.
func (u *UI) showChooser(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	chosen := u.find.Chosen(query["c"])
	if u.find.RefuseSelection(w, r, len(chosen)) {
		return
	}
	f := u.chooserOf(r, chosen, query)
	if f == nil {
		p := page.Problem{
			Title: "There is nothing to decide", Detail: "Nothing newer is known of what was chosen.",
			Back: "To the containers", BackTo: "/containers",
		}
		if !u.MayChoose(r) {
			p.Title, p.Detail = "This is not allowed", "Only a login, or a token that may write, allows to decide about updates."
		}
		u.RenderError(w, r, http.StatusUnprocessableEntity, p)
		return
	}
	f.Back, f.Several, f.Sure = page.LocalPath(cmp.Or(query.Get("back"), "/containers")), len(f.Items) > 1, true
	title := "Decide about " + words.Plural(len(f.Items), "update")
	if !f.Several {
		title = "Decide about the update of " + f.Items[0].Name
	}
	u.Show(w, r, http.StatusOK, "choose", page.Page{Title: title, Nav: "containers", Content: f})
}

// chooserPath is the page on which a user decides about containers.
func chooserPath(chosen []sdk.Container, back string, versions url.Values) string {
	query := url.Values{"back": {page.LocalPath(back)}}
	for i := range chosen {
		key := chosen[i].Watcher + "/" + chosen[i].Name
		query.Add("c", key)
		if version := versions.Get("version:" + key); version != "" {
			query.Set("version:"+key, version)
		}
	}
	return "/choose?" + query.Encode()
}

// snoozedUntil returns when a snooze ends, as a form says; zero for the next version.
func (u *UI) snoozedUntil(form url.Values) (time.Time, error) {
	now := u.Now()
	if text := form.Get("date"); text != "" {
		day, err := time.ParseInLocation(time.DateOnly, text, now.Location())
		switch {
		case err != nil:
			return day, sdk.Invalid("date", "want a day such as %s", now.AddDate(0, 0, 7).Format(time.DateOnly))
		case !day.After(now):
			return day,
				sdk.Invalid("date", "a snooze lasts until a day to come, the earliest is %s",
					now.AddDate(0, 0, 1).Format(time.DateOnly))
		}
		return day, nil
	}
	days := form.Get("until")
	if days == untilNext {
		return time.Time{}, nil
	}
	n, err := strconv.ParseUint(days, 10, 10)
	if err != nil || n == 0 {
		return time.Time{}, sdk.Invalid("until", "say until when to snooze")
	}
	return now.AddDate(0, 0, int(n)), nil
}

// choose does what a user decided about the updates of containers.
func (u *UI) choose(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	chosen := u.find.Chosen(r.PostForm["c"])
	if u.find.RefuseSelection(w, r, len(chosen)) {
		return
	}
	action, until := r.PostForm.Get("do"), time.Time{}
	var err error
	switch policy.ChoiceKind(action) {
	case policy.Skip, undoChoices:
	case policy.Approved:
		if r.PostForm.Get("sure") == "" && u.beginsUpdate(r, chosen) {
			u.Redirect(w, r, chooserPath(chosen, r.PostForm.Get("back"), r.PostForm))
			return
		}
	case policy.Snooze:
		until, err = u.snoozedUntil(r.PostForm)
	default:
		err = sdk.Invalid("do", "the form is not understood")
	}
	if err != nil {
		u.refuseChoice(w, r, err)
		return
	}
	u.decideAll(w, r, chosen, action, until)
}

// beginsUpdate reports whether one of the containers is updated once it is approved.
func (u *UI) beginsUpdate(r *http.Request, chosen []sdk.Container) bool {
	for i := range chosen {
		if u.carriesOut(r, &chosen[i]) {
			return true
		}
	}
	return false
}

// carriesOut reports whether the update of a container is carried out once the user approves it.
func (u *UI) carriesOut(r *http.Request, c *sdk.Container) bool {
	return c.Base == nil && u.Service.UpdatePermission(u.ActorOf(r), c.Watcher).Allowed
}

// decideAll stores the same choice about each container, and says how that went.
func (u *UI) decideAll(w http.ResponseWriter, r *http.Request, chosen []sdk.Container, action string, until time.Time) {
	said := page.Task{Back: page.LocalPath(r.PostForm.Get("back")), Undo: []string{}}
	var failures []string
	for i := range chosen {
		c := &chosen[i]
		key := c.Watcher + "/" + c.Name
		version := r.PostForm.Get("version:" + key)
		err := u.decideOne(r, c, action, version, until)
		switch {
		case err != nil && len(chosen) == 1:
			u.refuseChoice(w, r, err)
			return
		case err != nil:
			failures = append(failures, words.Name(c)+": "+u.Service.Redact(err.Error()))
		default:
			said.Undo = append(said.Undo, key)
		}
	}
	said.Title, said.Sentence = choiceTitle(action, chosen), choiceSentence(action, until)
	if len(failures) > 0 {
		said.Failed, said.Sentence = true, "It failed for "+strings.Join(failures, "; ")+"."
	}
	if action == undoChoices {
		said.Undo = nil
		if id, err := strconv.Atoi(r.PostForm.Get("task")); err == nil {
			u.Tasks.Dismiss(id)
		}
	}
	u.Tasks.Note(said)
	u.Done(w, r)
}

// decideOne stores a choice about one container.
func (u *UI) decideOne(r *http.Request, c *sdk.Container, action, version string, until time.Time) error {
	if action == undoChoices {
		_, err := u.Service.UndoChoices(r.Context(), u.ActorOf(r), c.ID)
		return err
	}
	if !until.IsZero() {
		version = "" // a snooze with an end holds every update
	}
	return u.Service.Choose(r.Context(), u.ActorOf(r), service.Choice{
		Container: c.ID, Kind: policy.ChoiceKind(action), Version: version, Until: until,
	})
}

// refuseChoice responds to what cannot be decided.
func (u *UI) refuseChoice(w http.ResponseWriter, r *http.Request, err error) {
	p := page.Problem{
		Title: "Nothing was decided", Detail: words.Sentence(err.Error()), Back: "Back",
		BackTo: page.LocalPath(r.PostFormValue("back")),
	}
	var invalid *sdk.InvalidError
	switch {
	case errors.As(err, &invalid):
		u.RenderError(w, r, http.StatusUnprocessableEntity, p)
	case errors.Is(err, service.ErrForbidden):
		u.RenderError(w, r, http.StatusForbidden, p)
	case errors.Is(err, service.ErrNotFound):
		u.RenderError(w, r, http.StatusNotFound, p)
	default:
		u.InternalError(w, r, "store what was decided", err)
	}
}

// choiceTitle says what was decided, and about what.
func choiceTitle(action string, of []sdk.Container) string {
	if action == undoChoices {
		return "Undone for " + words.Names(of)
	}
	return doneTitles[policy.ChoiceKind(action)] + ": " + words.Names(of)
}

// choiceSentence says what follows from a choice.
func choiceSentence(action string, until time.Time) string {
	switch {
	case action == undoChoices:
		return "Rules alone decide again."
	case action == string(policy.Approved):
		return "The version is taken whatever its age and step."
	case action == string(policy.Skip):
		return "The next version is offered."
	case until.IsZero():
		return "It is offered again with the next version."
	}
	return "It is offered again from " + policypreview.Moment(until) + " on."
}

// choiceRow is what was decided about one container, in the list of all choices.
type choiceRow struct {
	Name, Path string
	// Keys is that of the container, for the form that undoes; none for one that is gone.
	Keys []string
	Made []madeChoice
}

// choiceRows are the choices that are in force, by container.
func (u *UI) choiceRows() []choiceRow {
	snapshot := u.Service.Containers()
	var subjects []string
	by := map[string][]policy.Choice{}
	for _, c := range u.Service.AllChoices() {
		if by[c.Subject] == nil {
			subjects = append(subjects, c.Subject)
		}
		by[c.Subject] = append(by[c.Subject], c)
	}
	var rows []choiceRow
	for _, subject := range subjects {
		watcher, name, _ := strings.Cut(subject, "/")
		row := choiceRow{Name: subject}
		var of *sdk.Container
		if rec, known := snapshot.Named(watcher, name); known {
			of, row.Keys, row.Path = &rec.Container, []string{subject}, page.PathOf(&rec.Container)
		}
		if row.Made = madeOf(by[subject], of, u.Now()); len(row.Made) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}
