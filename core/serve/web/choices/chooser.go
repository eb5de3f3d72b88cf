package choices

import (
	"net/http"
	"net/url"
	"time"

	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// undoChoices is the action of forms that undo what was decided.
const undoChoices = "undo"

// Chooser is the form with which a user decides about the updates of containers.
type Chooser struct {
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
		word    string
		release *sdk.Release
	}{{sdk.DiffPatch, c.Result.Levels.Patch}, {sdk.DiffMinor, c.Result.Levels.Minor},
		{sdk.DiffMajor, c.Result.Levels.Major}} {
		if level.release != nil && level.release.Tag != c.Result.Tag {
			all = append(all, page.SelectOption{
				Value: level.release.Tag, Word: level.release.Tag + " (" + level.word + ")", Chosen: level.release.Tag == chosen,
			})
		}
	}
	return all
}

// ChooserOf returns the form about the updates of containers; nil for one who may not decide,
// or where there is no update. given are the versions that the address names.
func (h *Handler) ChooserOf(r *http.Request, chosen []sdk.Container, given url.Values) *Chooser {
	if !h.MayChoose(r) {
		return nil
	}
	f := &Chooser{Snoozes: snoozePresets(), Tomorrow: h.Now().AddDate(0, 0, 1).Format(time.DateOnly)}
	for i := range chosen {
		c := &chosen[i]
		key := c.Watcher + "/" + c.Name
		if versions := versionsToChoose(c, given.Get("version:"+key)); versions != nil {
			f.Items = append(f.Items, chooserItem{
				Key: key, Name: words.Name(c), Href: page.PathOf(c), Current: words.Tag(c.Image.Tag.Value), Versions: versions,
			})
			f.Approve = f.Approve || c.Base == nil
			f.May = f.May || h.carriesOut(r, c)
		}
	}
	if len(f.Items) == 0 {
		return nil
	}
	return f
}

// Path is the page on which a user decides about containers.
func Path(chosen []sdk.Container, back string, versions url.Values) string {
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

// carriesOut reports whether the update of a container is carried out once the user approves it.
func (h *Handler) carriesOut(r *http.Request, c *sdk.Container) bool {
	return c.Base == nil && h.service.UpdatePermission(h.ActorOf(r), c.Watcher).Allowed
}
