package containers

import (
	"context"
	"net/http"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

// scanView is what is known of the vulnerabilities of a container's update.
type scanView struct {
	Href string
	scan.Status
	// Busy is true while a scan waits or runs, May whether the user may have one run.
	Busy, May bool
	// Compared says how the images compare, and Remain what the new one still has.
	Compared, Remain phrase.Phrase
	Findings         []findingGroup
}

// findingGroup are the most severe vulnerabilities that are fixed, added or remain.
type findingGroup struct {
	Word  phrase.Phrase
	Total int
	Lines []findingLine
}

// findingLine is a vulnerability, with the page about it, if there is one, and the class of its colour.
type findingLine struct {
	vulnerability.Finding
	Link, Class string
	Word        phrase.Phrase
}

// scanOf returns what is known of the update of a container; nil where nothing can be.
func (h *Handler) scanOf(ctx context.Context, r *http.Request, c *sdk.Container) *scanView {
	has, may := h.service.CanScan(h.ActorOf(r))
	if !has || !c.UpdateAvailable {
		return nil
	}
	v := &scanView{Href: page.PathOf(c), May: may}
	var err error
	if v.Status, err = h.service.ScanStatus(ctx, *c); err != nil {
		h.Log.Warn("the scan of a container cannot be read", "container", event.Subject(*c), "error", err)
		return v
	}
	v.Busy = v.State == scan.Waiting || v.State == scan.Running
	v.Error = phrase.English(phrase.Sentence(phrase.Quote(v.Error)))
	if known := v.Comparison; known != nil {
		v.Compared = words.Scanned(known.Summary.String())
		v.Remain = preview.Vulnerabilities(known.Remaining.Vulnerabilities())
		v.Findings = []findingGroup{
			groupOf(phrase.New("fixed"), known.Fixed.Total(), known.FixedFindings),
			groupOf(phrase.New("added"), known.Added.Total(), known.AddedFindings),
			groupOf(phrase.New("remaining"), known.Remaining.Total(), known.RemainingFindings),
		}
	}
	return v
}

func groupOf(word phrase.Phrase, total int, findings []vulnerability.Finding) findingGroup {
	g := findingGroup{Word: word, Total: total}
	for _, f := range findings {
		g.Lines = append(g.Lines, findingLine{f, advisory(f.ID), severityClass(f.Severity), words.Severity(f.Severity)})
	}
	return g
}

// More is how many of a group are not listed.
func (g findingGroup) More() int { return g.Total - len(g.Lines) }

func severityClass(s vulnerability.Severity) string {
	switch s {
	case vulnerability.Critical, vulnerability.High:
		return "major"
	case vulnerability.Medium:
		return "minor"
	}
	return "muted"
}

var (
	cveForm  = lazyregexp.New(`^CVE-\d{4}-\d{4,12}$`)
	ghsaForm = lazyregexp.New(`^GHSA(-[0-9a-z]{4}){3}$`)
)

// advisory returns the page about a vulnerability; "" for one of another list. The links of
// reports are not followed, for they could lead anywhere.
func advisory(id string) string {
	switch {
	case cveForm().MatchString(id):
		return "https://nvd.nist.gov/vuln/detail/" + id
	case ghsaForm().MatchString(id):
		return "https://github.com/advisories/" + id
	}
	return ""
}

// startScan has the update of a container scanned.
func (h *Handler) startScan(w http.ResponseWriter, r *http.Request, rec *store.Record) {
	if err := h.service.Scan(h.ActorOf(r), rec.Container); err != nil {
		h.operations.RenderNotBegun(w, r, phrase.New("The images of %s are not scanned", words.Name(&rec.Container)), err,
			phrase.New("Go to %s", words.Name(&rec.Container)), page.PathOf(&rec.Container))
		return
	}
	http.Redirect(w, r, h.Path(tabPath(page.PathOf(&rec.Container), tabVersions, "")+"#scan"), http.StatusSeeOther)
}
