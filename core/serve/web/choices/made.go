package choices

import (
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/choice"
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// Made is what was decided about the updates of a container.
type Made struct {
	Words phrase.Phrase // "Skipped 9.0.0"
	By    phrase.Phrase // "by ana"; nil where nobody logs in
	At    time.Time
	// Until is when it ends; zero when it does not by itself.
	Until time.Time
}

// MadeOf are the choices about a container that are in force, as users read them; of is nil
// when it is gone.
func MadeOf(all []choice.Choice, container *sdk.Container, now time.Time) []Made {
	var listed []Made
	for _, c := range all {
		ended := c.Kind == choice.Snooze && !c.Until.IsZero() && !c.Until.After(now)
		if ended || container != nil && reached(c, container) {
			continue
		}
		version := phrase.Verbatim(c.Version())
		if c.Update.Kind == sdk.KindDigest {
			version = phrase.New("the image %s", words.Digest(c.Version()))
		}
		m := Made{By: preview.By(c.Actor), At: c.At.Time, Until: c.Until.Time}
		switch {
		case c.Kind == choice.Skip:
			m.Words = phrase.New("Skipped %s", version)
		case c.Kind == choice.Approved:
			m.Words = phrase.New("Approved %s", version)
		case m.Until.IsZero():
			m.Words = phrase.New("Snoozed %s until the next version", version)
		default:
			m.Words = phrase.New("Snoozed")
		}
		listed = append(listed, m)
	}
	return listed
}

// reached reports whether a container runs the version that a choice is about.
func reached(c choice.Choice, container *sdk.Container) bool {
	if c.Update.Kind == sdk.KindDigest {
		return c.Update.ToDigest == container.Image.Digest.Repo
	}
	return c.Update.Kind == sdk.KindTag && c.Update.ToTag == container.Image.Tag.Value
}

// Row is what was decided about one container, in the list of all choices.
type Row struct {
	Name, Path string
	// Full is the container as the API has it: "local/web".
	Full string
	// Keys is that of the container, for the form that undoes; none for one that is gone.
	Keys []string
	Made []Made
}

// Rows are the choices that are in force, by container.
func (h *Handler) Rows() []Row {
	snapshot := h.service.Containers()
	names := h.Names()
	var subjects []string
	by := map[string][]choice.Choice{}
	for _, c := range h.service.AllChoices() {
		if by[c.Subject] == nil {
			subjects = append(subjects, c.Subject)
		}
		by[c.Subject] = append(by[c.Subject], c)
	}
	var rows []Row
	for _, subject := range subjects {
		watcher, name, _ := strings.Cut(subject, "/")
		row := Row{Name: names.Of(subject, ""), Full: subject}
		var container *sdk.Container
		if rec, known := snapshot.Named(watcher, name); known {
			container, row.Keys, row.Path = &rec.Container, []string{subject}, page.PathOf(&rec.Container)
		}
		if row.Made = MadeOf(by[subject], container, h.Now()); len(row.Made) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}
