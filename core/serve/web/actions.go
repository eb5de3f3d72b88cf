package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// act does with containers what a form says.
func (u *UI) act(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	chosen := u.find.Chosen(r.PostForm["c"])
	actor := u.ActorOf(r)
	var started bool
	switch do := r.PostFormValue("do"); {
	case do == "check-all":
		started = u.checkAll(actor)
	case len(chosen) == 0:
		u.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: "Nothing was chosen", Detail: "Choose at least one container that still exists; then repeat it.",
			Back: "To the containers", BackTo: "/containers",
		})
		return
	case do == "update":
		if newer := updatable(chosen); len(newer) > 0 {
			chosen = newer // else the page of the plan says why not
		}
		u.Redirect(w, r, page.SelectionPath(chosen))
		return
	case do == "decide":
		if newer := updatable(chosen); len(newer) > 0 {
			chosen = newer
		}
		u.Redirect(w, r, chooserPath(chosen, r.PostFormValue("back"), nil))
		return
	case do == "check":
		started = u.checkSome(actor, chosen)
	case do == "run":
		id := r.PostFormValue("trigger")
		choices := triggerChoices(u.Service.Components(actor, kind.Trigger))
		i := slices.IndexFunc(choices, func(t triggerChoice) bool { return t.ID == id })
		if i < 0 {
			u.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
				Title:  "There is no such trigger",
				Detail: fmt.Sprintf("No usable trigger is called %q. Nothing was done.", id), Back: "To the triggers",
				BackTo: "/triggers",
			})
			return
		}
		if choices[i].Acts && r.PostFormValue("sure") == "" {
			u.confirm(w, r, id, chosen)
			return
		}
		started = u.runTrigger(actor, id, chosen)
	default:
		u.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: "The form is not understood", Detail: "Nothing was done. Load the page again and repeat it.",
		})
		return
	}
	if !started {
		u.RenderError(w, r, http.StatusServiceUnavailable, page.Problem{
			Title: "Too much is running", Detail: "Wait until some of it has ended; then repeat it.",
		})
		return
	}
	u.Done(w, r)
}

// confirmation has the user confirm what may change containers.
type confirmation struct {
	Trigger, Here string
	Keys, Names   []string
}

func (u *UI) confirm(w http.ResponseWriter, r *http.Request, trigger string, chosen []sdk.Container) {
	v := confirmation{Trigger: trigger, Here: page.LocalPath(r.PostFormValue("back"))}
	for i := range chosen {
		v.Keys, v.Names = append(v.Keys, chosen[i].Watcher+"/"+chosen[i].Name), append(v.Names, words.Name(&chosen[i]))
	}
	u.Show(w, r, http.StatusOK, "confirm", page.Page{Title: "Run " + trigger, Nav: "containers", Content: v})
}

func (u *UI) checkAll(actor auth.Actor) bool {
	return u.Tasks.Start(page.Task{Title: "Checking every container", Steps: 1},
		func(ctx context.Context, step func()) (string, bool) {
			defer step()
			if err := u.Service.CheckAll(ctx, actor); err != nil {
				return "The check did not end: " + err.Error() + ".", true
			}
			return "Checked: " + words.Counts(u.guide.Counts()) + ".", false
		})
}

func (u *UI) checkSome(actor auth.Actor, chosen []sdk.Container) bool {
	return u.Tasks.Start(page.Task{Title: "Checking " + words.Names(chosen), Steps: len(chosen)},
		func(ctx context.Context, step func()) (string, bool) {
			errs := make([]error, len(chosen))
			var wait sync.WaitGroup
			slots := make(chan struct{}, find.AtOnce)
			for i, c := range chosen {
				slots <- struct{}{}
				wait.Go(func() {
					errs[i] = u.Service.CheckOne(ctx, actor, c)
					step()
					<-slots
				})
			}
			wait.Wait()
			return u.checked(chosen, errs)
		})
}

// checked says how checks of containers went.
func (u *UI) checked(chosen []sdk.Container, errs []error) (string, bool) {
	snapshot := u.Service.Containers()
	var t tally.Counts
	for i := range chosen {
		rec, known := snapshot.Named(chosen[i].Watcher, chosen[i].Name)
		if len(chosen) == 1 {
			return u.checkedOne(rec, errs[i])
		}
		if errs[i] != nil || !known {
			t.All++
			t.Failed++
			continue
		}
		t.Add(&rec.Container)
	}
	return "Checked: " + words.Counts(t) + ".", t.Failed > 0
}

func (u *UI) checkedOne(rec *store.Record, err error) (string, bool) {
	switch {
	case errors.Is(err, check.ErrNotListed) || err == nil && rec == nil:
		return "The engine does not have it any more.", true
	case err != nil:
		return "The check failed: " + err.Error() + ".", true
	}
	r := u.rows().of(rec)
	switch {
	case r.Failed != "":
		return "The check failed: " + r.Failed + ".", true
	case r.Kind != "":
		return fmt.Sprintf("There is a newer version: %s (%s).", r.New, tally.Word(r.Kind)), false
	}
	return "It is up to date.", false
}

// runTrigger runs a trigger for containers, one after the other.
func (u *UI) runTrigger(actor auth.Actor, id string, chosen []sdk.Container) bool {
	running := page.Task{Title: "Running " + id + " for " + words.Names(chosen), Steps: len(chosen), Trigger: id}
	for i := range chosen {
		running.Subjects = append(running.Subjects, event.Subject(chosen[i]))
	}
	return u.Tasks.Start(running, func(ctx context.Context, step func()) (string, bool) {
		typ, name, _ := strings.Cut(id, ".")
		var failed []string
		for i := range chosen {
			if err := u.Service.RunTrigger(ctx, actor, typ, name, chosen[i:i+1], false); err != nil {
				failed = append(failed, words.Name(&chosen[i])+": "+err.Error())
			}
			step()
		}
		if len(failed) > 0 {
			return "It failed for " + strings.Join(failed, "; ") + ".", true
		}
		return "It ran for " + words.Names(chosen) + ".", false
	})
}

// updatable returns those of containers that have an update.
func updatable(chosen []sdk.Container) []sdk.Container {
	return slices.DeleteFunc(slices.Clone(chosen), func(c sdk.Container) bool { return !c.UpdateAvailable })
}
