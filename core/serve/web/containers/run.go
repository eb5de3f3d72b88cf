package containers

import (
	"context"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// confirmation has the user confirm what may change containers.
type confirmation struct {
	Trigger, Here string
	Keys, Names   []string
}

func (h *Handler) confirm(w http.ResponseWriter, r *http.Request, trigger string, chosen []sdk.Container) {
	v := confirmation{Trigger: trigger, Here: page.LocalPath(r.PostFormValue("back"))}
	for i := range chosen {
		v.Keys, v.Names = append(v.Keys, chosen[i].Watcher+"/"+chosen[i].Name), append(v.Names, words.Name(&chosen[i]))
	}
	h.Show(w, r, http.StatusOK, "confirm", page.Page{Title: phrase.New("Run %s", trigger), Nav: "containers", Content: v})
}

// runTrigger runs a trigger for containers, one after the other.
func (h *Handler) runTrigger(actor auth.Actor, id string, chosen []sdk.Container) bool {
	running := page.Task{Title: phrase.New("Running %s for %s", id, words.Names(chosen)), Steps: len(chosen), Trigger: id}
	for i := range chosen {
		running.Subjects = append(running.Subjects, event.Subject(chosen[i]))
	}
	return h.Tasks.Start(running, func(ctx context.Context, step func()) (phrase.Phrase, bool) {
		typ, name, _ := strings.Cut(id, ".")
		var failed []string
		for i := range chosen {
			if err := h.service.RunTrigger(ctx, actor, typ, name, chosen[i:i+1], false); err != nil {
				failed = append(failed, words.Name(&chosen[i])+": "+err.Error())
			}
			step()
		}
		if len(failed) > 0 {
			return phrase.New("It failed for %s.", strings.Join(failed, "; ")), true
		}
		return phrase.New("It ran for %s.", words.Names(chosen)), false
	})
}

// triggerOption is a trigger that can be run for containers.
type triggerOption struct {
	ID string
	// Acts is true for triggers that may change containers, which the user has to confirm.
	Acts bool
}

// triggerOptions are those of triggers that can be run.
func triggerOptions(triggers []service.Component) []triggerOption {
	var all []triggerOption
	for _, t := range triggers {
		if t.Usable {
			all = append(all, triggerOption{ID: t.ID, Acts: t.Acts})
		}
	}
	return all
}
