package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config/label"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/internal/weblink"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// lookBack is how many deliveries are searched for those of a container.
	lookBack = 500
	// historyLines is how many of them, and of what happened, its page shows.
	historyLines = 12
	// verdictLines is how many tags an explanation shows at once.
	verdictLines = 200
)

// containerView is the page of a container.
type containerView struct {
	row
	Here, List string
	// Sheet is true beside the list.
	Sheet     bool
	Pull      string
	Link      string
	FirstSeen time.Time
	CheckedAt time.Time
	Platform  string
	ID        string
	Digest    string
	Version   string // of the image that runs
	Labels    []labelLine
	Triggers  []triggerChoice
	Sent      []sentLine
	History   []historyLine
	// Floating, Watched and Pinned are those of the image's tag and digest.
	Floating, Watched, Pinned bool
	// Skipped says which newer versions are not offered, and why.
	Skipped []string
	Changes operations.Changes
	// Versions is nil while only one is known.
	Versions *versionsView
	// Choose is the form to decide about its update; nil where there is nothing to decide, or
	// the user may not. Made is what was decided, MayUndo whether the user may undo that.
	Choose  *chooser
	Made    []madeChoice
	MayUndo bool
	// Why is filled in on the page without script; else the page loads it later.
	Why *whyView
	// HasNotes is true where there is a section of release notes. Notes are filled in on the
	// page without script, likewise.
	HasNotes bool
	Notes    *notesView
	// Scan is nil where there is no scanner, or no update.
	Scan *scanView
}

// labelLine is one label; FromImage is whether the image brings it.
type labelLine struct {
	Name, Value string
	FromImage   bool
}

// sentLine is one delivery.
type sentLine struct {
	ID       int64
	Trigger  string
	Word     string
	Failed   bool
	At, Next time.Time
	Error    string
}

// historyLine is one thing that happened to a container.
type historyLine struct {
	At    time.Time
	Words string
	Bad   bool
}

// containerOf makes the page of a stored container.
func containerOf(rec *store.Record, make rows) containerView {
	c := &rec.Container
	v := containerView{
		row: make.of(rec), FirstSeen: rec.FirstSeen, CheckedAt: rec.CheckedAt, ID: c.ID, Digest: c.Image.Digest.Repo,
		Version: c.Image.Version,
	}
	v.Floating, v.Watched, v.Pinned = c.Image.Tag.Floating, c.Image.Digest.Watch, c.Image.Digest.Pinned
	for _, s := range c.Skipped {
		v.Skipped = append(v.Skipped, visible.Line(s.Text))
	}
	v.Here, v.List = v.Href, "/containers"
	v.Pull = pullOf(c)
	if c.Result != nil && v.Kind != "" {
		v.Link = weblink.Of(c.Result.Link)
	}
	v.Platform = words.Joined("/", c.Image.OS, c.Image.Architecture, c.Image.Variant)
	set := label.Of(*c)
	for _, name := range sortedKeys(c.Labels) {
		_, fromImage := set.Image[name]
		v.Labels = append(v.Labels,
			labelLine{visible.Line(name), make.redact(c.Labels[name]), fromImage && !set.Unattributed})
	}
	return v
}

// pullOf is the command that gets what is newer, or what runs when nothing is.
func pullOf(c *sdk.Container) string {
	tag := c.Image.Tag.Value
	if c.UpdateKind.Kind == sdk.KindTag && c.Result != nil && c.UpdateAvailable {
		tag = c.Result.Tag
	}
	name := reference.Short(c.Image.Registry.Host, c.Image.Name)
	switch {
	case c.Base != nil || c.Image.Built:
		return ""
	case name == "" || tag == "":
		return ""
	case strings.HasPrefix(tag, "sha256:"):
		return "docker pull " + name + "@" + tag
	}
	return "docker pull " + name + ":" + tag
}

// sentOf are the deliveries about a container, newest first.
func sentOf(all []delivery.Delivery, c *sdk.Container) []sentLine {
	var lines []sentLine
	for _, d := range all {
		if len(lines) == historyLines || d.Subject != event.Subject(*c) && !slices.Contains(d.Containers, c.ID) {
			continue
		}
		line := sentLine{ID: d.ID, Trigger: d.Trigger, At: d.UpdatedAt, Error: d.Error}
		switch d.State {
		case delivery.Sent:
			line.Word, line.Error = "sent", ""
		case delivery.Failed:
			line.Word, line.Failed = "given up after "+words.Plural(d.Attempts, "try"), true
		case delivery.Skipped:
			line.Word = "not sent: no longer newer"
		case delivery.Sending:
			line.Word = "being sent"
		default:
			line.Word, line.Next = "to be sent", d.NextAt
		}
		lines = append(lines, line)
	}
	return lines
}

// happened is what became of a container, newest first.
func happened(events []event.Event, c *sdk.Container) []historyLine {
	var lines []historyLine
	for _, e := range events {
		if len(lines) == historyLines {
			break
		}
		if e.Choice != nil {
			lines = append(lines, historyLine{At: e.At, Words: words.Choice(e.Type, *e.Choice)})
			continue
		}
		if e.Scan != nil {
			said, class := words.Scan(*e.Scan)
			lines = append(lines, historyLine{At: e.At, Words: words.Capital(said), Bad: class != ""})
			continue
		}
		if e.Container == nil || e.Container.Watcher != c.Watcher {
			continue
		}
		line := historyLine{At: e.At}
		switch e.Type {
		case event.ContainerAdded:
			line.Words = "It was found, running " + words.Tag(e.Container.Image.Tag.Value)
		case event.ContainerReplaced:
			line.Words = "It was recreated, running " + words.Tag(e.Container.Image.Tag.Value)
		case event.ContainerRenamed:
			line.Words = "It was renamed, from " + e.From
		case event.ContainerRemoved:
			line.Words = "It was removed"
		case event.UpdateFound:
			line.Words = "It has a newer version: " + found(e.Container)
		case event.UpdateCleared:
			line.Words = cleared(e.Container, c)
		case event.ContainerChanged:
			line.Words, line.Bad = changed(e, c)
		default:
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

func found(c *sdk.Container) string {
	kind := " (" + tally.Word(tally.Kind(c)) + ")"
	if _, offered := tally.Versions(c); offered != "" {
		return offered + kind
	}
	if tally.Rebuilt(c) {
		return words.Digest(c.UpdateKind.RemoteValue) + kind
	}
	if c.Result == nil {
		return "unknown"
	}
	return c.Result.Tag + kind
}

// cleared says what is the case where an update is none any more.
func cleared(c, now *sdk.Container) string {
	if tally.Unknown(c) {
		return "Whether there is anything newer is not known any more" + reasonUnless(c, now)
	}
	return "It is up to date again"
}

// reasonUnless says why nothing could be compared, unless that is so now, which the page says anyway.
func reasonUnless(c, now *sdk.Container) string {
	if tally.Unknown(now) && c.Check.Reason == now.Check.Reason {
		return ""
	}
	return ": " + c.Check.Reason
}

func changed(e event.Event, now *sdk.Container) (text string, bad bool) {
	c := e.Container
	switch {
	case e.Aspect == event.Postponed && c.Check.Postponed():
		return "It could not be asked about; its " + words.Postponed(*c), false
	case e.Aspect == event.Postponed:
		return "It was " + words.Postponed(*c), false
	case (e.Aspect == event.Decided || e.Aspect == event.Leveled) && c.Decision != nil:
		return words.Decision(*c), false
	case c.Error != nil:
		return "It has a problem: " + c.Error.Message, true
	case c.Check.State == sdk.CheckFailed:
		return "It could not be checked", true
	case tally.Unknown(c):
		return "Whether there is anything newer is not known" + reasonUnless(c, now), false
	case c.Status != "":
		return "It changed; it is " + c.Status, false
	}
	return "It changed", false
}

// whyView is an explanation as users read it.
type whyView struct {
	// Explanation has in Rules those that labels set; Defaults are the others.
	check.Explanation
	Defaults []check.Rule
	Kept     []check.Verdict
	// More is how many tags are not shown.
	More int
	// Openings are the next windows for updates, if a rule sets one; NeverOpens says why there is none.
	Openings   []policypreview.Opening
	NeverOpens string
}

// why explains the tag of a container, and when its updates may be offered.
func (u *UI) why(ctx context.Context, c sdk.Container) *whyView {
	v := whyOf(u.Service.Explain(ctx, c))
	policies, err := u.Service.PreviewPolicies(ctx, nil)
	if err != nil {
		u.Log.Warn("the next windows of a container cannot be read", "container", event.Subject(c), "error", err)
		return v
	}
	for _, w := range policies.Now.Windows() {
		if slices.Contains(w.Containers, event.Subject(c)) {
			v.Openings, v.NeverOpens = w.Openings, w.NeverOpens
		}
	}
	return v
}

func whyOf(e check.Explanation) *whyView {
	v := &whyView{Explanation: e}
	v.Rules = nil
	for _, r := range e.Rules {
		if r.IsDefault() {
			v.Defaults = append(v.Defaults, r)
		} else {
			v.Rules = append(v.Rules, r)
		}
	}
	for _, t := range e.Tags {
		if t.Kept {
			v.Kept = append(v.Kept, t)
		}
	}
	v.More = e.Omitted + max(0, len(e.Tags)-verdictLines)
	v.Tags = e.Tags[:min(len(e.Tags), verdictLines)]
	return v
}

// containerByID leads from the id of the engine, which changes when a container
// is recreated, to the page that stays.
func (u *UI) containerByID(w http.ResponseWriter, r *http.Request) {
	to := u.find.PathOf(r.Context(), u.ActorOf(r), r.PathValue("id"))
	if to == "" {
		u.RenderError(w, r, http.StatusNotFound, page.Problem{
			Title: "This container is gone", Detail: "It was removed since, or never known.", Back: "To the containers",
			BackTo: "/containers",
		})
		return
	}
	http.Redirect(w, r, u.Path(to), http.StatusFound)
}

func (u *UI) container(w http.ResponseWriter, r *http.Request) {
	rec := u.find.Container(w, r)
	if rec == nil {
		return
	}
	v, err := u.containerView(r, rec)
	if err != nil {
		u.InternalError(w, r, "read the history of the container", err)
		return
	}
	if r.URL.Query().Get("why") != "" {
		v.Why = u.why(r.Context(), rec.Container)
	}
	if r.URL.Query().Get("notes") != "" {
		v.Notes = u.notes(r.Context(), rec.Container)
	}
	if v.Sheet = page.Partial(r); v.Sheet {
		u.Fragment(w, r, "container", "container", v)
		return
	}
	u.Show(w, r, http.StatusOK, "container", page.Page{Title: v.Name, Nav: "containers", Live: page.FollowsContainers, Content: v})
}

func (u *UI) containerView(r *http.Request, rec *store.Record) (containerView, error) {
	ctx, actor := r.Context(), u.ActorOf(r)
	u.Want(&rec.Container)
	u.WantVersions(&rec.Container)
	v := containerOf(rec, u.rows())
	events, err := u.historyOf(ctx, actor, &rec.Container)
	if err != nil {
		return v, err
	}
	deliveries, err := u.Service.Deliveries(ctx, store.DeliveryFilter{Limit: lookBack})
	if err != nil {
		return v, err
	}
	v.History, v.Sent = happened(events, &rec.Container), sentOf(deliveries, &rec.Container)
	v.Versions = versionLineOf(events, &rec.Container, u.Now())
	v.Triggers = triggerChoices(u.Service.TriggersOf(actor, rec.Container))
	one := []row{v.row}
	u.follow(ctx, actor, one)
	v.Follows = one[0].Follows
	if v.Choose = u.chooserOf(r, []sdk.Container{rec.Container}, nil); v.Choose != nil {
		v.Choose.Back = v.Here
	}
	v.Made, v.MayUndo = madeOf(u.Service.ChoicesOf(event.Subject(rec.Container)), &rec.Container, u.Now()), u.MayChoose(r)
	v.HasNotes = v.Kind != "" && u.Service.HasNotes()
	v.Scan = u.scanOf(ctx, r, &rec.Container)
	v.Changes, err = u.operations.ChangesOf(r, &rec.Container)
	return v, err
}

// containerWhy renders the explanation, for which a registry may be needed.
func (u *UI) containerWhy(w http.ResponseWriter, r *http.Request) {
	rec := u.find.Container(w, r)
	if rec == nil {
		return
	}
	if !page.Partial(r) {
		http.Redirect(w, r, u.Path(page.PathOf(&rec.Container)+"?why=1"), http.StatusFound)
		return
	}
	u.Fragment(w, r, "container", "why", u.why(r.Context(), rec.Container))
}
