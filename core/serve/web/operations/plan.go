package operations

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/choices"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/internal/imagediff"
	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// planView is the page of an update or a rollback before it begins.
type planView struct {
	Rollback   bool
	Name, Href string
	// Choose is the form to skip, snooze or approve the update; nil for a rollback, or who may not.
	Choose *choices.Chooser
	// Path is where the form of the page goes.
	Path     string
	Image    string
	From, To phrase.Phrase
	Digest   string
	Plan     watcher.Plan
	Steps    []phrase.Phrase
	Blocks   []blockLine
	Warnings []warningLine
	// Major is what a major update of a container with data takes; nil for any other.
	Major   *warningLine
	Files   []fileLines
	Backups []backupLine
	// Space says what it downloads, and what the container has written; nil where neither is known.
	Space phrase.Phrase
	// Notice says why the page is shown again.
	Notice phrase.Phrase
	// Confirm is whether there is a button, Acknowledge whether boxes have to be checked before.
	Confirm, Acknowledge bool
	// Forbidden says why there is no button for this user, and what allows it.
	Forbidden phrase.Phrase
	// Paste has the lines that allow it, or take its blocks away.
	Paste config.Paste
	// Compose is what was chosen for the compose file: "edit" or ""; OfferCompose whether it can be.
	Compose      string
	OfferCompose bool
	// Version is what was chosen among the versions; "" for the one that is offered.
	Version string
	// Approve is whether it can be left to Dogwatch in the next window, Waits whether it waits for the user's approval.
	Approve, Waits bool
	// Held says what holds it; nil for nothing.
	Held phrase.Phrase
	planDetails
}

// blockLine is what keeps a change from being carried out.
type blockLine struct {
	watcher.Reason
	// Accepted is whether the user accepted it before.
	Accepted bool
}

// warningLine is what to know before a change, with the page that says more, and the host that has it; "" for none.
type warningLine struct {
	watcher.Reason
	Link, Host string
}

// warningsOf are warnings with the address at the end of their text as a link.
func warningsOf(all []watcher.Reason) (lines []warningLine) {
	for _, w := range all {
		line := warningLine{Reason: w}
		if i := strings.LastIndex(w.Text, " https://"); i >= 0 {
			if address := w.Text[i+1:]; !strings.Contains(address, " ") {
				line.Link = webaddress.Of(address)
			}
			if line.Link != "" {
				line.Text = w.Text[:i]
				line.Host, _, _ = strings.Cut(strings.TrimPrefix(line.Link, "https://"), "/")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// fileLines are the lines of a diff.
type fileLines struct {
	Path  string
	Lines []diffLine
}

type diffLine struct{ Class, Text string }

// unchangedCompose is the warning that the compose file keeps the old tag.
const unchangedCompose = "compose.unchanged"

// planOf makes the page of a plan; accepted are the codes of blocks that the user accepts.
func planOf(kind operation.Kind, c *sdk.Container, p watcher.Plan, accepted []string) planView {
	v := planView{
		Rollback: kind == operation.Rollback, Name: words.Name(c), Href: page.PathOf(c),
		Path: page.ChangePath(kind, c), Plan: p, Steps: words.Steps(p.Steps, c),
		Image: words.Repository(p.From.Reference), Digest: p.To.Digest, Backups: backupsOf(p.Backups),
		Space: words.Space(p.Space), Paste: updater.Paste(p.Blocks),
	}
	v.From, v.To = words.Versions(p.From, p.To)
	v.Plan.Changes = slices.Clone(p.Changes)
	for i, c := range p.Changes {
		if kind, _, _ := strings.Cut(c.Name, " "); kind == imagediff.Port || kind == imagediff.Volume {
			v.Plan.Changes[i].Name = kind // its values say which
		}
	}
	for _, line := range warningsOf(p.Warnings) {
		if line.Code == updater.WarnMajor {
			v.Major = &line
			continue
		}
		v.Warnings = append(v.Warnings, line)
	}
	v.Confirm = true
	for _, b := range p.Blocks {
		b.Text = withoutCode(b)
		v.Blocks = append(v.Blocks, blockLine{b, slices.Contains(accepted, b.Code)})
		v.Confirm = v.Confirm && b.Acknowledge
		v.Acknowledge = v.Acknowledge || b.Acknowledge
	}
	for _, f := range p.Files {
		v.Files = append(v.Files, fileLines{f.Path, diffLines(f.Diff)})
	}
	v.OfferCompose = slices.ContainsFunc(p.Warnings, func(w watcher.Reason) bool { return w.Code == unchangedCompose })
	return v
}

// withoutCode is the text of a block without what it says to programs and on the command line: pages have a box that
// accepts it.
func withoutCode(block watcher.Reason) string {
	return strings.TrimSuffix(block.Text, ", or acknowledge "+block.Code)
}

// diffLines are the lines of a unified diff, without those that name the files.
func diffLines(diff string) []diffLine {
	var lines []diffLine
	for text := range strings.SplitSeq(strings.TrimRight(diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
		case strings.HasPrefix(text, "+"):
			lines = append(lines, diffLine{"added", text})
		case strings.HasPrefix(text, "-"):
			lines = append(lines, diffLine{"gone", text})
		default:
			lines = append(lines, diffLine{"", text})
		}
	}
	return lines
}

// showPlan renders the plan of a change, which is made anew with each page view.
func (h *Handler) showPlan(kind operation.Kind) http.HandlerFunc {
	return h.find.Named(func(w http.ResponseWriter, r *http.Request, rec *store.Record) {
		if op, busy := h.UnderWay(r.Context())[rec.Container.Watcher+"/"+rec.Container.Name]; busy {
			http.Redirect(w, r, h.Path(page.OperationPath(op.ID)+"?did=already"), http.StatusFound)
			return
		}
		change := changeOf(kind, &rec.Container, url.Values{"compose": r.URL.Query()["compose"],
			"version": r.URL.Query()["version"]})
		h.renderPlan(w, r, http.StatusOK, rec, change, nil)
	})
}

func (h *Handler) renderPlan(
	w http.ResponseWriter, r *http.Request, status int, rec *store.Record, change service.Change, notice phrase.Phrase,
) {
	c, actor, accepted := &rec.Container, h.ActorOf(r), change.Rules.Acknowledged
	change.State, change.Digest, change.Rules.Acknowledged = "", "", nil
	plan, err := h.service.Plan(r.Context(), actor, change)
	if err != nil && h.renderNotOffered(w, r, err, c, change) {
		return
	}
	if err != nil {
		title := phrase.New("%s cannot be updated", words.Name(c))
		if change.Kind == operation.Rollback {
			title = phrase.New("%s cannot be rolled back", words.Name(c))
		}
		h.RenderNotBegun(w, r, title, err, phrase.New("Go to %s", words.Name(c)), page.PathOf(c))
		return
	}
	v := planOf(change.Kind, c, plan, accepted)
	v.Notice, v.Version = notice, change.Version
	// An error means that the container has just gone.
	if details, err := h.service.PlanDetails(r.Context(), actor, change); err == nil {
		v.planDetails = h.planDetailsOf(details, v.Path)
	}
	if found, err := h.service.Operations(r.Context(), operation.Filter{Watcher: c.Watcher, Name: c.Name,
		Limit: operationLines}); err == nil && !v.Rollback {
		tried := triedOf(found)
		v.Tried = tried[words.TagOf(plan.To.Reference)]
		for i := range v.Levels {
			v.Levels[i].Tried = tried[v.Levels[i].Tag]
		}
	}
	permission := h.service.UpdatePermission(actor, c.Watcher)
	v.Confirm, v.Forbidden = v.Confirm && permission.Allowed, forbiddenText(permission)
	v.Paste.Lines = append(v.Paste.Lines, permission.Paste.Lines...)
	v.Paste.Docs = cmp.Or(v.Paste.Docs, permission.Paste.Docs)
	v.OfferCompose = v.OfferCompose && permission.Allowed
	if !v.Rollback {
		v.Choose = h.choices.ChooserOf(r, []sdk.Container{*c}, url.Values{"version:" + c.Watcher + "/" + c.Name: {v.Target}})
	}
	if v.Choose != nil {
		v.Choose.Back, v.Choose.Leaves = v.Href, true
		v.Approve = !v.Acknowledge && v.Window != nil
		v.Waits, v.Held = tally.Approval(c), heldBy(c)
	}
	if change.Rules.Compose != nil {
		v.Compose = "edit"
	}
	title := phrase.New("Update %s", v.Name)
	if v.Rollback {
		title = phrase.New("Roll back %s", v.Name)
	}
	h.Show(w, r, status, "plan", page.Page{Title: title, Nav: "containers", Content: v})
}

// heldBy says what holds the update of a container; nil for nothing.
func heldBy(c *sdk.Container) phrase.Phrase {
	if tally.State(c) != sdk.StateHeld {
		return nil
	}
	var reasons []phrase.Phrase
	for _, r := range c.Decision.Reasons {
		reasons = append(reasons, policypreview.Sentence(r))
	}
	return phrase.Capital(phrase.Join("; ", reasons...))
}

// changeOf is what a form, or the address of a plan, asks for.
func changeOf(kind operation.Kind, c *sdk.Container, form url.Values) service.Change {
	change := service.Change{Container: c.ID, Kind: kind, Digest: form.Get("digest"), State: form.Get("state")}
	change.Rules.Acknowledged = form["ack"]
	if kind == operation.Update {
		change.Version = form.Get("version")
	}
	if form.Get("compose") == "edit" {
		change.Rules.Compose = &watcher.ComposeRules{Backup: true}
	}
	return change
}
