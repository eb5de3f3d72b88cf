package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/find"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
)

// selectionView is the page of several updates before they begin.
type selectionView struct {
	Plans []planLine
	// Ready is how many can be updated as they are, Acceptable how many once the user
	// accepts what keeps them from it.
	Ready, Acceptable int
}

// planLine is the plan of one update, in short.
type planLine struct {
	Key, Name, Path, Href string
	From, To, Kind        string
	State, Digest         string
	Warnings, Dependents  []string
	// Download is a size in words; "" where it is not known or nothing.
	Download string
	// Problem says why it cannot be updated from here; "" when it can.
	Problem string
	// Blocks are what keeps it from being updated until the user accepts it, Codes
	// what they are called, each once.
	Blocks, Codes []string
}

// showSelection renders the plans of all containers that the address names.
func (u *UI) showSelection(w http.ResponseWriter, r *http.Request) {
	chosen := u.find.Chosen(r.URL.Query()["c"])
	switch {
	case len(chosen) == 0:
		u.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: "Nothing was chosen", Detail: "Choose at least one container that still exists; then repeat it.",
			Back: "To the containers", BackTo: "/containers",
		})
		return
	case len(chosen) > find.MaxSelected:
		u.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title:  "Too much at once",
			Detail: fmt.Sprintf("At most %d containers are updated at once. Choose fewer.", find.MaxSelected),
			Back:   "To the containers", BackTo: "/containers",
		})
		return
	}
	v := selectionView{Plans: u.planLines(r, chosen)}
	for _, l := range v.Plans {
		switch {
		case l.Problem != "":
		case len(l.Codes) > 0:
			v.Acceptable++
		default:
			v.Ready++
		}
	}
	u.Show(w, r, http.StatusOK, "selection", page.Page{Title: "Update " + words.Names(chosen), Nav: "containers", Content: v})
}

// planLines plans updates, a few at the same time.
func (u *UI) planLines(r *http.Request, chosen []sdk.Container) []planLine {
	actor := u.ActorOf(r)
	lines := make([]planLine, len(chosen))
	var wait sync.WaitGroup
	slots := make(chan struct{}, find.AtOnce)
	for i := range chosen {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			lines[i] = u.planLine(r.Context(), actor, &chosen[i])
		})
	}
	wait.Wait()
	return lines
}

// planLine plans the update of one container.
func (u *UI) planLine(ctx context.Context, actor auth.Actor, c *sdk.Container) planLine {
	l := planLine{
		Key: c.Watcher + "/" + c.Name, Name: words.Name(c), Path: page.ChangePath(operation.Update, c),
		Href: page.PathOf(c),
	}
	plan, err := u.Service.Plan(ctx, actor, service.Change{Container: c.ID, Kind: operation.Update})
	switch {
	case errors.Is(err, updater.ErrNoUpdate):
		l.Problem = "Nothing newer is known."
		return l
	case err != nil:
		l.Problem = words.Sentence(err.Error())
		return l
	}
	if permission := u.Service.UpdatePermission(actor, c.Watcher); !permission.Allowed {
		l.Problem = cmp.Or(forbiddenText(permission), "It cannot be updated from here.")
	}
	l.From, l.To = words.Versions(plan.From, plan.To)
	planned := u.Service.ByHand(ctx, *c)
	l.Kind = tally.Kind(&planned)
	l.State, l.Digest, l.Download = plan.State, plan.To.Digest, words.Bytes(plan.Space.Download)
	for _, b := range plan.Blocks {
		if !b.Acknowledge {
			l.Problem = words.Joined(" ", l.Problem, words.Sentence(b.Text))
			continue
		}
		l.Blocks = append(l.Blocks, words.Sentence(b.Text))
		if !slices.Contains(l.Codes, b.Code) {
			l.Codes = append(l.Codes, b.Code)
		}
	}
	for _, warning := range plan.Warnings {
		l.Warnings = append(l.Warnings, warning.Text)
	}
	for _, d := range plan.Dependents {
		l.Dependents = append(l.Dependents, d.Name)
	}
	return l
}

// begunView says what became of the updates of a selection, where some did not begin.
type begunView struct {
	Begun  []page.Link
	Failed []planLine
}

// startSelection begins the updates that the user has confirmed.
func (u *UI) startSelection(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	chosen := u.find.Chosen(r.PostForm["c"])
	if len(chosen) == 0 || len(chosen) > find.MaxSelected {
		u.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title:  "Nothing was chosen",
			Detail: fmt.Sprintf("Choose up to %d containers that still exist; then repeat it.", find.MaxSelected),
			Back:   "To the containers", BackTo: "/containers",
		})
		return
	}
	// Those of a stack are carried out one after the other, as they were begun.
	chosen = label.InOrder(chosen, func(c sdk.Container) sdk.Container { return c })
	var v begunView
	for i := range chosen {
		c := &chosen[i]
		key := c.Watcher + "/" + c.Name
		change := service.Change{
			Container: c.ID, Kind: operation.Update, Digest: r.PostForm.Get("digest:" + key),
			State: r.PostForm.Get("state:" + key),
		}
		change.Rules.Acknowledged = r.PostForm["ack:"+key] // to choose it was to accept them
		op, err := u.Service.StartOperation(r.Context(), u.ActorOf(r), change)
		if err != nil {
			_, said := refusal(err)
			v.Failed = append(v.Failed, planLine{
				Key: key, Name: words.Name(c), Path: page.ChangePath(operation.Update, c), Problem: said,
			})
			continue
		}
		v.Begun = append(v.Begun, page.Link{Text: words.Name(c), To: page.OperationPath(op.ID)})
	}
	if len(v.Failed) == 0 {
		http.Redirect(w, r, u.Path("/operations"), http.StatusSeeOther)
		return
	}
	u.Show(w, r, http.StatusConflict, "begun", page.Page{Title: "Update " + words.Names(chosen), Nav: "containers", Content: v})
}

// updatable returns those of containers that have an update.
func updatable(chosen []sdk.Container) []sdk.Container {
	return slices.DeleteFunc(slices.Clone(chosen), func(c sdk.Container) bool { return !c.UpdateAvailable })
}
