package plugins

import (
	"net/http"
	"slices"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// capability is one that an installed plugin asks for.
type capability struct {
	Name string
	// Sentence says what it gives.
	Sentence phrase.Phrase
	// Granted is true when it has it.
	Granted bool
}

// grantsOf returns what can be granted to a plugin that was installed: what the
// configuration grants is changed there.
func grantsOf(b service.Plugin) []capability {
	if b.Installed == nil {
		return nil
	}
	var all []capability
	for _, c := range b.Requested {
		byUser := slices.Contains(b.Installed.Granted, c)
		if has := slices.Contains(b.Status.Grants, c); byUser || !has {
			all = append(all, capability{c, gives(c, byUser), byUser})
		}
	}
	return all
}

func gives(capability string, granted bool) phrase.Phrase {
	what := config.Gives(capability)
	if what == nil {
		what = phrase.New("this capability")
	}
	if granted {
		return phrase.New("It has %s.", what)
	}
	return phrase.New("It asks for %s.", what)
}

func (h *Handler) grant(w http.ResponseWriter, r *http.Request) {
	granted, did := r.PostFormValue("granted") == "true", "revoked"
	if granted {
		did = "granted"
	}
	_, err := h.service.GrantPlugin(r.Context(), h.ActorOf(r), r.PathValue("name"), r.PostFormValue("capability"), granted)
	h.done(w, r, did, err,
		page.Failure{Err: service.ErrForbidden, Problem: page.Problem{
			Title: phrase.New("This is for people who are logged in"), Detail: phrase.New("A token cannot say what plugins are granted."),
		}},
		page.Failure{Problem: page.Problem{Title: phrase.New("What the plugin is granted was not changed")}})
}
