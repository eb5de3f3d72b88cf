package plugins

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin/install"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// galleryPart is the plugins that can be installed by their names.
type galleryPart struct {
	Offers []offer
	// Newest is true for the list of the newest release, and Problem says why that does not count.
	Newest  bool
	Problem string
	// Asks is true for a user who may have that list fetched.
	Asks bool
}

// offer is a plugin of the gallery in words.
type offer struct {
	install.Offer
	Path    string
	Buttons []button
}

// button has something done with the file of a plugin.
type button struct {
	Do    service.PluginChange
	Label phrase.Phrase
}

// buttons are those of the changes that can be made, for a user who may.
func buttons(may bool, can map[service.PluginChange]bool) []button {
	var all []button
	for _, do := range []service.PluginChange{service.InstallPlugin, service.UpdatePlugin, service.RollBackPlugin} {
		if may && can[do] {
			all = append(all, button{do, changes[do].button})
		}
	}
	return all
}

// newest reports whether a request is about the list of the newest release.
func newest(r *http.Request) bool { return r.FormValue("gallery") == "newest" }

func (h *Handler) gallery(r *http.Request) galleryPart {
	actor := h.ActorOf(r)
	g := galleryPart{Asks: actor.Operator(), Newest: newest(r)}
	all, err := h.service.Gallery(r.Context(), actor, g.Newest)
	if err != nil {
		g.Problem = phrase.English(phrase.Sentence(phrase.Capital(phrase.Quote(err.Error()))))
	}
	for _, o := range all {
		g.Offers = append(g.Offers, offer{o, pathOf(o.Name), buttons(actor.Operator(), map[service.PluginChange]bool{
			service.InstallPlugin: o.Reference != "" && o.BuiltIn && o.Installed == "",
			service.UpdatePlugin:  o.Newer != "",
		})})
	}
	return g
}

// pathOf is the start of the addresses of a plugin.
func pathOf(name string) string { return "/plugins/" + url.PathEscape(name) }

// changes are what users can have done with the file of a plugin, as a title, a button and a sentence have it.
var changes = map[service.PluginChange]struct {
	button      phrase.Phrase
	title       func(name string) phrase.Phrase
	doing, done func(what string) phrase.Phrase
}{
	service.InstallPlugin: {
		phrase.New("Install"), func(name string) phrase.Phrase { return phrase.New("Install %s?", name) },
		func(name string) phrase.Phrase { return phrase.New("Install %s", name) }, installed,
	},
	service.UpdatePlugin: {
		phrase.New("Update"), func(name string) phrase.Phrase { return phrase.New("Update %s?", name) },
		func(name string) phrase.Phrase { return phrase.New("Update %s", name) }, installed,
	},
	service.RollBackPlugin: {
		phrase.New("Roll back"),
		func(name string) phrase.Phrase { return phrase.New("Go back to the version of %s before?", name) },
		func(name string) phrase.Phrase { return phrase.New("Roll back %s", name) },
		func(what string) phrase.Phrase { return phrase.New("%s is back.", what) },
	},
}

func installed(what string) phrase.Phrase { return phrase.New("%s is installed.", what) }

// changePage has the user confirm what runs as a program on this machine.
type changePage struct {
	install.Offer
	Title, Button phrase.Phrase
	Path          string
	Do            service.PluginChange
	Newest        bool
}

// change installs, updates or rolls back a plugin once the user has confirmed it.
func (h *Handler) change(w http.ResponseWriter, r *http.Request) {
	do, name, asked := service.PluginChange(r.PostFormValue("do")), r.PathValue("name"), newest(r)
	actor := h.ActorOf(r)
	if !actor.Operator() {
		h.done(w, r, "", service.ErrForbidden, page.Failure{Err: service.ErrForbidden, Problem: page.Problem{
			Title: phrase.New("This is for people who are logged in"), Detail: phrase.New("A token cannot install plugins."),
		}})
		return
	}
	text, known := changes[do]
	if !known {
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: phrase.New("The form is not understood"), Detail: phrase.New("Nothing was done. Load the page again and repeat it."),
			Back: phrase.New("Go to plugins"), BackTo: "/plugins",
		})
		return
	}
	if r.PostFormValue("sure") == "" {
		h.confirm(w, r, do, name, asked)
		return
	}
	started := h.Tasks.Start(page.Task{Title: text.doing(name)},
		func(ctx context.Context, _ func()) (phrase.Phrase, bool) {
			pin, err := h.service.ChangePlugin(ctx, actor, do, name, asked)
			if err != nil {
				return phrase.Sentence(phrase.Capital(phrase.Quote(err.Error()))), true
			}
			return text.done(phrase.English(phrase.Capital(phrase.Verbatim(name))) + " " + cmp.Or(pin.Version, pin.Ref)), false
		})
	if !started {
		h.RenderError(w, r, http.StatusServiceUnavailable, page.Problem{
			Title: phrase.New("Too much is running"), Detail: phrase.New("Wait until some of it has ended; then repeat it."),
			Back: phrase.New("Go to plugins"), BackTo: "/plugins",
		})
		return
	}
	http.Redirect(w, r, h.Path("/plugins"), http.StatusSeeOther)
}

func (h *Handler) confirm(w http.ResponseWriter, r *http.Request, do service.PluginChange, name string, asked bool) {
	p := changePage{Do: do, Button: changes[do].button, Path: pathOf(name), Newest: asked}
	p.Name = name
	all, _ := h.service.Gallery(r.Context(), h.ActorOf(r), asked) // whatever is wrong with it, the change says
	for _, o := range all {
		if o.Name == name {
			p.Offer = o
		}
	}
	for _, b := range h.service.Plugins() {
		if b.Name == name && b.Installed != nil && p.Reference == "" {
			p.Installed, p.Newer, p.Previous = b.Installed.Version, b.Installed.Available, b.Installed.Previous
		}
	}
	p.Title = changes[do].title(name)
	h.Show(w, r, http.StatusOK, "change", page.Page{Title: p.Title, Nav: "plugins", Content: p})
}
