package containers

import (
	"net/http"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/operations"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
)

// containerView is the page of a container.
type containerView struct {
	Row
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
	Triggers  []triggerOption
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
	Choose  *choices.Chooser
	Made    []choices.Made
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

// containerOf makes the page of a stored container.
func containerOf(rec *store.Record, make rows) containerView {
	c := &rec.Container
	v := containerView{
		Row: make.Of(rec), FirstSeen: rec.FirstSeen, CheckedAt: rec.CheckedAt, ID: c.ID, Digest: c.Image.Digest.Repo,
		Version: c.Image.Version,
	}
	v.Floating, v.Watched, v.Pinned = c.Image.Tag.Floating, c.Image.Digest.Watch, c.Image.Digest.Pinned
	for _, s := range c.Skipped {
		v.Skipped = append(v.Skipped, visible.Line(s.Text))
	}
	v.Here, v.List = v.Href, "/containers"
	v.Pull = pullOf(c)
	if c.Result != nil && v.Kind != "" {
		v.Link = webaddress.Of(c.Result.Link)
	}
	v.Platform = words.Joined("/", c.Image.OS, c.Image.Architecture, c.Image.Variant)
	set := label.Of(*c)
	for _, name := range SortedKeys(c.Labels) {
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

func (h *Handler) showContainer(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	v, err := h.containerView(r, rec)
	if err != nil {
		h.InternalError(w, r, "read the history of the container", err)
		return
	}
	if r.URL.Query().Get("why") != "" {
		v.Why = h.why(r.Context(), rec.Container)
	}
	if r.URL.Query().Get("notes") != "" {
		v.Notes = h.notes(r.Context(), rec.Container)
	}
	if v.Sheet = page.Partial(r); v.Sheet {
		h.Fragment(w, r, "container", "container", v)
		return
	}
	h.Show(w, r, http.StatusOK, "container", page.Page{Title: v.Name, Nav: "containers", Live: page.FollowsContainers, Content: v})
}

func (h *Handler) containerView(r *http.Request, rec *store.Record) (containerView, error) {
	ctx, actor := r.Context(), h.ActorOf(r)
	h.wanted.Release(&rec.Container)
	h.wanted.Versions(&rec.Container)
	v := containerOf(rec, h.rowsAsOf(actor))
	events, err := h.historyOf(ctx, actor, &rec.Container)
	if err != nil {
		return v, err
	}
	deliveries, err := h.service.Deliveries(ctx, store.DeliveryFilter{Limit: lookBack})
	if err != nil {
		return v, err
	}
	v.History, v.Sent = happened(events, &rec.Container), sentOf(deliveries, &rec.Container)
	v.Versions = versionLineOf(events, &rec.Container, h.Now())
	v.Triggers = triggerOptions(h.service.TriggersOf(actor, rec.Container))
	one := []Row{v.Row}
	h.Follow(ctx, actor, one)
	v.Follows = one[0].Follows
	if v.Choose = h.choices.ChooserOf(r, []sdk.Container{rec.Container}, nil); v.Choose != nil {
		v.Choose.Back = v.Here
	}
	v.Made, v.MayUndo = choices.MadeOf(h.service.ChoicesOf(event.Subject(rec.Container)), &rec.Container, h.Now()),
		h.MayChoose(r)
	v.HasNotes = v.Kind != "" && h.service.HasNotes()
	v.Scan = h.scanOf(ctx, r, &rec.Container)
	v.Changes, err = h.operations.ChangesOf(r, &rec.Container)
	return v, err
}
