package choices

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
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
	// Back is the page to return to. Leaves is whether a choice leads there at once.
	Back   string
	Leaves bool
	Items  []chooserItem
	// Several is true on the page about a selection, where a container is left out by its box.
	Several bool
	// Advice is what a major update of its one container takes; nil for nothing.
	Advice phrase.Phrase
	// May is whether a watcher of theirs can update containers, Approve whether approving one has an effect.
	May     bool
	Approve bool
	Snoozes []page.SelectOption
	// Tomorrow is the first day that a snooze can last until.
	Tomorrow string
}

// Chosen is the version that is decided about unless the user chooses another.
func (i chooserItem) Chosen() Version {
	return i.Versions[max(0, slices.IndexFunc(i.Versions, func(v Version) bool { return v.Chosen }))]
}

// chooserItem is one container of a chooser.
type chooserItem struct {
	Key, Name, Href, Current string
	// Versions are those that can be decided about, the one that is offered or held first.
	Versions []Version
}

// Version is one of the versions that an update can be to.
type Version struct {
	// Value is what forms and addresses call it, Tag what users read, and Kind how much it changes; see tally.Kind.
	Value, Tag, Kind string
	Chosen           bool
}

// VersionsOf returns the versions of the update of a container, the one that is offered or held first; nil for none.
func VersionsOf(c *sdk.Container, chosen string) []Version {
	if !c.UpdateAvailable || c.Result == nil {
		return nil
	}
	target := update.KeyOf(c).To()
	tag := words.Tag(c.Result.Tag)
	if c.UpdateKind.Kind == sdk.KindDigest {
		tag = words.Digest(target)
	}
	all := []Version{{target, tag, tally.Kind(c), target == chosen}}
	for _, level := range tally.Levels(c) {
		if level.Tag != c.Result.Tag {
			all = append(all, Version{level.Tag, level.Tag, level.Step, level.Tag == chosen})
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
		if versions := VersionsOf(c, given.Get("version:"+key)); versions != nil {
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

// Approving says what follows when one of them is approved.
func (f *Chooser) Approving() phrase.Phrase {
	switch {
	case !f.Approve:
		return phrase.New("There is nothing to approve: what is newer is a base image; rebuild the image.")
	case f.May:
		return phrase.New("Dogwatch installs what you approve in the next update window, or immediately if you have set no window.")
	}
	return phrase.New("What is approved is offered whatever its age and step.")
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
