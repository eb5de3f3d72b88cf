package containers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config/label"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
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
	Skipped []phrase.Phrase
	Changes operations.Changes
	// To and ToKind are the version that is shown, and how much it changes; Levels are those to choose from, nil where
	// there is one only. UpdatePath is the page of its plan.
	To, ToKind, UpdatePath string
	Levels                 []operations.Level
	// Tab is the open one of the Tabs.
	Tab  string
	Tabs []tab
	// Versions is nil while only one is known.
	Versions *versionsView
	// Choose is the form to decide about its update; nil where there is nothing to decide, or
	// the user may not. Made is what was decided, MayUndo whether the user may undo that.
	Choose  *choices.Chooser
	Made    []choices.Made
	MayUndo bool
	// LabelFailed is whether the check failed by one of its labels, and Composed whether a compose file has them.
	LabelFailed, Composed bool
	// Advice is what a major update takes, as far as its image is known, and AdvicePage says more; nil for nothing.
	Advice     phrase.Phrase
	AdvicePage string
	// Releases are those on the way whose notes are known to warn of something.
	Releases []operations.Release
	// Why is filled in where no script loads it later; see readTab.
	Why *whyView
	// HasNotes is true where there are release notes to read. Notes are filled in likewise.
	HasNotes bool
	Notes    *notesView
	// LogAccess is whether the user may read what the container wrote, which is in Log likewise.
	LogAccess service.LogAccess
	Log       *logView
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
		v.Skipped = append(v.Skipped, phrase.Change(policypreview.Skipped(s), visible.Line))
	}
	v.List = "/containers"
	v.Pull = pullOf(c)
	if c.Result != nil && v.Kind != "" {
		v.Link = webaddress.Of(c.Result.Link)
	}
	v.LabelFailed, v.Composed = strings.HasPrefix(v.Failed, "label "), c.Labels["com.docker.compose.project"] != ""
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
	if v.Sheet = page.Partial(r); v.Sheet {
		h.Fragment(w, r, "container", "container", v)
		return
	}
	h.Show(w, r, http.StatusOK, "container", page.Page{
		Title: phrase.Verbatim(v.Name), Nav: "containers", Live: page.FollowsContainers, Content: v,
	})
}

func (h *Handler) containerView(r *http.Request, rec *store.Record) (containerView, error) {
	ctx, actor, query, c := r.Context(), h.ActorOf(r), r.URL.Query(), &rec.Container
	h.wanted.Release(c)
	h.wanted.Versions(c)
	v := containerOf(rec, h.rowsAsOf(actor))
	v.Advice, v.AdvicePage = h.service.MajorAdvice(*c)
	v.HasNotes = v.Kind != "" && h.service.HasNotes()
	v.LogAccess = h.service.LogAccess(actor, c.Watcher)
	version := v.chooseVersion(c, query.Get("version"), tabOf(query), h.service.SkippedBy)
	v.openTab(tabOf(query), version)
	if v.HasNotes {
		v.Releases = operations.ReleasesOf(h.Site, h.service.KnownWarnings(ctx, *c, version))
	}
	v.Triggers = triggerOptions(h.service.TriggersOf(actor, *c))
	if v.Failed != "" {
		v.FailedSince = h.failedSince(ctx, actor, v.Key)
	}
	one := []Row{v.Row}
	h.Follow(ctx, actor, one)
	v.Follows = one[0].Follows
	v.Choose = h.choices.ChooserOf(r, []sdk.Container{*c}, url.Values{"version:" + v.Key: {version}})
	if v.Choose != nil {
		v.Choose.Back = v.Here
	}
	v.Made, v.MayUndo = choices.MadeOf(h.service.ChoicesOf(event.Subject(*c)), c, h.Now()), h.MayChoose(r)
	var err error
	if v.Changes, err = h.operations.ChangesOf(r, c); err != nil {
		return v, err
	}
	if v.Changes.Doing != nil {
		v.Choose = nil // it is being carried out
	}
	for i, l := range v.Levels {
		v.Levels[i].Tried = v.Changes.Tried[l.Tag]
	}
	if version != "" {
		v.Changes.Instead = "" // it leads to what was chosen
	} else if v.Changes.Instead != "" {
		v.UpdatePath += page.Query(map[string]string{"version": v.Changes.Instead})
	}
	return v, h.readTab(ctx, r, rec, &v)
}

// chooseVersion shows the version that the address names, if it is one of those of the update, and returns it. The
// links to others keep the tab.
func (v *containerView) chooseVersion(
	c *sdk.Container, named, tab string, skipped func(c *sdk.Container, version string) string,
) (chosen string) {
	v.To, v.ToKind, v.UpdatePath = v.New, v.Kind, v.Href+"/update"
	all := choices.VersionsOf(c, named)
	if len(all) < 2 {
		return ""
	}
	for _, one := range all {
		if one.Chosen {
			v.To, v.ToKind, chosen = one.Tag, one.Kind, one.Value
			v.UpdatePath += page.Query(map[string]string{"version": chosen})
		}
	}
	for i, one := range all {
		v.Levels = append(v.Levels, operations.Level{
			Tag: one.Tag, Kind: one.Kind, To: tabPath(v.Href, tab, one.Value), Chosen: one.Chosen || chosen == "" && i == 0,
			Skipped: skipped(c, one.Value),
		})
	}
	step := func(l operations.Level) int {
		return slices.Index([]string{sdk.DiffPatch, sdk.DiffMinor, sdk.DiffMajor}, l.Kind)
	}
	slices.SortStableFunc(v.Levels, func(a, b operations.Level) int { return step(a) - step(b) }) // as in the plan
	return chosen
}
