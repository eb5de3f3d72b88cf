package plugins

import (
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// notices are the sentences that the address of the page can select.
var notices = map[string]func(name string) phrase.Phrase{
	"restarted": func(name string) phrase.Phrase { return phrase.New("%s is being restarted.", name) },
	"trusted": func(name string) phrase.Phrase {
		return phrase.New("%s is trusted as it is now and is being started.", name)
	},
	"granted": func(name string) phrase.Phrase { return phrase.New("%s gets it, and is being started again.", name) },
	"revoked": func(name string) phrase.Phrase {
		return phrase.New("%s has it no more, and is being started again.", name)
	},
}

// done leads back to the page, which says what was done with a plugin, or renders the error.
func (h *Handler) done(w http.ResponseWriter, r *http.Request, did string, err error, failures ...page.Failure) {
	name := r.PathValue("name")
	failures = append([]page.Failure{{Err: service.ErrNotFound, Problem: page.Problem{
		Title:  phrase.New("There is no such plugin"),
		Detail: phrase.New("No plugin is called %s. Its file may be gone since this page was made.", name),
	}}}, failures...)
	for i := range failures {
		failures[i].Back, failures[i].BackTo = phrase.New("Go to plugins"), "/plugins"
	}
	h.Finish(w, r, err, "change the plugin "+name, "/plugins?"+url.Values{"did": {did}, "to": {name}}.Encode(), failures...)
}
