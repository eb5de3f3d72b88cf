package operations

import (
	"net/http"
	"net/url"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk"
)

// operationLines is how many operations the page of a container shows.
const operationLines = 5

// Changes is what the page of a container says about its updates and rollbacks.
type Changes struct {
	// Update and Rollback say which buttons there are, Previous to what a rollback returns.
	Update, Rollback bool
	Previous         string
	// Instead is the smaller version that Update leads to while the newest waits for an approval; "" for the newest.
	Instead string
	// Forbidden says why updates are not allowed, and what allows them; see forbiddenText.
	Forbidden phrase.Phrase
	// Paste has the lines that allow them.
	Paste config.Paste
	// Doing is what is being done, at DoingPath; nil for nothing.
	Doing     phrase.Phrase
	DoingPath string
	Rows      []operationRow
	More      string
	// Kept is whether there may be backups.
	Kept bool
	// Tried is when updates did not work, by their tags.
	Tried map[string]time.Time
}

// ChangesOf returns what was and can be done to a container.
func (h *Handler) ChangesOf(r *http.Request, c *sdk.Container) (Changes, error) {
	permission := h.service.UpdatePermission(h.ActorOf(r), c.Watcher)
	v := Changes{Update: permission.Allowed && c.UpdateAvailable && c.Base == nil, Forbidden: forbiddenText(permission)}
	v.Paste = permission.Paste
	if byHand := h.service.ByHand(r.Context(), *c); v.Update && c.Result != nil && byHand.Result.Tag != c.Result.Tag {
		v.Instead = byHand.Result.Tag
	}
	found, err := h.service.Operations(r.Context(), operation.Filter{
		Watcher: c.Watcher, Name: c.Name, Limit: operationLines + 1,
	})
	if err != nil {
		return v, err
	}
	for _, op := range found {
		switch {
		case !op.State.Ended():
			v.Doing, v.DoingPath = words.Doing(op), page.OperationPath(op.ID)
			v.Update = false
		case op.State == operation.Succeeded && op.ContainerID == c.ID &&
			!op.Rules.DryRun: // the next check says what is newer
			v.Update = false
		}
		if op.Outcome != nil && len(op.Outcome.Kept) > 0 {
			v.Kept = true
		}
	}
	if len(found) > operationLines {
		found, v.More = found[:operationLines], "/operations?container="+url.QueryEscape(c.Watcher+"/"+c.Name)
	}
	v.Rows, v.Tried = operationRows(found, h.Names()), triedOf(found)
	if permission.Allowed && v.Doing == nil && len(found) > 0 {
		previous, err := h.service.PreviousImage(r.Context(), *c)
		if err != nil {
			return v, err
		}
		v.Rollback, v.Previous = previous != "", words.TagOf(previous)
	}
	return v, nil
}
