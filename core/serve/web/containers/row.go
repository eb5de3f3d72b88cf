package containers

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

func (h *Handler) Rows() rows {
	return rows{redact: h.service.Redact, skipped: h.service.SkippedBy, icon: h.Icon, now: h.Now()}
}

// rowsAsOf makes rows that say how old they are where their engine does not respond.
func (h *Handler) rowsAsOf(actor auth.Actor) rows {
	make := h.Rows()
	make.silent = map[string]service.Component{}
	for _, c := range h.service.Components(actor, kind.Watcher) {
		if !c.AsOf.IsZero() {
			make.silent[c.Name] = c
		}
	}
	return make
}

// RowsFor makes rows that say what is being updated, and what the user can update.
func (h *Handler) RowsFor(r *http.Request) rows {
	actor, known := h.ActorOf(r), map[string]bool{}
	make := h.rowsAsOf(actor)
	make.underWay, make.tried = h.operations.UnderWay(r.Context()), h.operations.Tried(r.Context())
	make.may = func(watcher string) bool {
		may, seen := known[watcher]
		if !seen {
			may = h.service.UpdatePermission(actor, watcher).Allowed
			known[watcher] = may
		}
		return may
	}
	return make
}

// Row is a container as lists show it.
type Row struct {
	// Key is "watcher/name", which a container keeps when it is recreated; Href is its page.
	Key, Href, Icon string
	place
	// Repository is Image without the host of its registry, unless that tells it from another in a list.
	Repository         string
	Current, New, Kind string
	Registry           string
	Stack, Status      string
	trouble
	Part     tally.Part
	Standing words.State
	Unknown  phrase.Phrase // why nothing could be compared
	Base     string        // the base image that is watched instead: "node:22-alpine"
	// Postponed is until when the check waits for a registry, and why, as a state; PostponedUntil begins with "until".
	Postponed, PostponedUntil phrase.Phrase
	// What became of the update.
	decision
	// Update is the page of the plan; "" where it cannot be updated. Doing is what an
	// operation does to it now, whose page is DoingPath, and Far the same in few words.
	Update, DoingPath string
	Doing, Far        phrase.Phrase
	// Tried is when updates did not work, by their tags.
	Tried map[string]time.Time
	// Warnings are said in the rows of the overview; none where nothing is known.
	Warnings warnings
	// FailedSince is since when its checks fail; zero where that is not shown, or not known. Whole has the row say why
	// in full.
	FailedSince time.Time
	Whole       bool
	// HTML is the row, for those that are shown.
	HTML template.HTML
}

// rows makes rows of containers.
type rows struct {
	// redact blanks secrets, skipped says who skipped a version of a container, icon finds the icon for an image.
	redact  func(string) string
	skipped func(c *sdk.Container, version string) string
	icon    func(label, image string) string
	now     time.Time
	// underWay are the operations that have not ended, by key, and may reports whether
	// containers of a watcher can be updated; each is nil where nothing is to be said of them.
	underWay map[string]operation.Operation
	may      func(watcher string) bool
	// tried is when updates did not work, by key and tag.
	tried map[string]map[string]time.Time
	// silent are the watchers that failed, by name.
	silent map[string]service.Component
}

func (m rows) Of(rec *store.Record) Row {
	c := &rec.Container
	r := Row{
		Key: c.Watcher + "/" + c.Name, Href: page.PathOf(c), place: m.placeOf(rec),
		Current: words.Tag(c.Image.Tag.Value), Kind: tally.Kind(c), trouble: m.troubleOf(c), Registry: c.Image.Registry.Host,
		Stack: c.Stack, Status: c.Status,
		Part: tally.PartOf(c), Standing: words.Standing(c), Tried: m.tried[c.Watcher+"/"+c.Name],
	}
	r.Repository = cmp.Or(reference.Short("", c.Image.Name), r.Image)
	if r.Kind != "" && c.Result != nil {
		r.New = c.Result.Tag
		if tally.Rebuilt(c) {
			r.New = words.Digest(c.UpdateKind.RemoteValue)
			if running, offered := tally.Versions(c); running != "" {
				r.Current, r.New = r.Current+" ("+running+")", offered
			}
		}
	}
	if base := tally.Base(c); base != "" {
		r.Base = base
		if r.Kind != "" {
			r.Current = "base " + base
		}
	}
	if r.Kind != "" {
		r.decision = decisionOf(c, m.redact)
		r.Also = slices.DeleteFunc(r.Also, func(tag string) bool { return m.skipped(c, tag) != "" })
	}
	if tally.Unknown(c) {
		r.Unknown = cmp.Or(phrase.Change(policypreview.Uncompared(c.Check.Reason), m.redact), phrase.New("nothing could be compared"))
	}
	if c.Check.Postponed() {
		r.Postponed = phrase.Change(words.Postponed(c), m.redact)
		r.PostponedUntil = phrase.Change(words.PostponedUntil(c), m.redact)
	}
	if op, busy := m.underWay[r.Key]; busy {
		r.Doing, r.Far, r.DoingPath = words.Doing(op), words.Far(op), page.OperationPath(op.ID)
	} else if m.updatable(c) {
		r.Update = page.ChangePath(operation.Update, c)
	}
	r.Icon = m.icon(c.DisplayIcon, c.Image.Name)
	return r
}

// trouble is what is wrong with a container.
type trouble struct {
	Watcher string
	Failed  string // why the last check failed, or which label is wrong
	Cause   string // what others may fail by as well; "" where Failed is its own
	// AsOf is how old all of this is, because of Silence, where the engine does not respond; nil where it does.
	AsOf    phrase.Phrase
	Silence string
}

func (m rows) troubleOf(c *sdk.Container) trouble {
	t := trouble{Watcher: c.Watcher}
	if tally.Failed(c) {
		t.Failed = "The check failed"
		if c.Error != nil && c.Error.Message != "" {
			t.Failed, t.Cause = m.redact(c.Error.Message), c.Error.Cause
		}
	}
	if w, silent := m.silent[c.Watcher]; silent {
		t.AsOf, t.Silence = words.Clock(w.AsOf.Time, m.now), w.Error
	}
	return t
}

// updatable reports whether the user can update a container now.
func (m rows) updatable(c *sdk.Container) bool {
	if !c.UpdateAvailable || c.Base != nil || m.may == nil || !m.may(c.Watcher) {
		return false
	}
	_, busy := m.underWay[c.Watcher+"/"+c.Name]
	return !busy
}

// place is what a row is sorted by. A list has it of all its containers, and the rest of few.
type place struct {
	Name, Image string
	// Released is when what is newer was made, as its image says, and Seen since when
	// it is known here. Each is zero when that is not known.
	Released, Seen time.Time
	need           int
	lower          string // Name in lower case
}

func (m rows) placeOf(rec *store.Record) place {
	c := &rec.Container
	p := place{Name: cmp.Or(c.DisplayName, c.Name), need: urgency(c),
		Image: cmp.Or(reference.Short(c.Image.Registry.Host, c.Image.Name), "no image name")}
	p.lower = strings.ToLower(p.Name)
	if c.UpdateAvailable && c.Result != nil {
		p.Released, p.Seen = candidate.Released(c, m.now), rec.FoundAt
	}
	return p
}

// since is what a list is sorted by that is to begin with the newest.
func (p *place) since() time.Time {
	if p.Released.IsZero() {
		return p.Seen
	}
	return p.Released
}

// urgency orders containers by how much they need the user, as the overview does: what a rule holds or carries out
// by itself comes after all that a user has to decide or to mend.
func urgency(c *sdk.Container) int {
	switch state := tally.State(c); {
	case tally.Failed(c) && state != sdk.StateOffered:
		return 0
	case tally.Approval(c) && tally.Kind(c) == sdk.DiffMajor:
		return 1
	case tally.Approval(c):
		return 2
	case state == sdk.StateHeld || state == sdk.StateAutomatic:
		return 7
	}
	switch tally.Kind(c) {
	case "major":
		return 3
	case "minor":
		return 4
	case "patch", "prerelease":
		return 5
	case "digest", "other":
		return 6
	}
	return 8
}

// ByNeed sorts rows: those that need a user most come first.
func ByNeed(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int { return compare(&a.place, &b.place, "need") })
}

// needs reports whether a user has to decide about a container or to mend it.
func needs(c *sdk.Container) bool {
	state := tally.State(c)
	return state != "" && state != sdk.StateHeld && state != sdk.StateAutomatic || tally.Failed(c)
}
