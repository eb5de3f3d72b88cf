package settings

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/sdk"
)

// logView is the part of the settings page about the log.
type logView struct {
	Choices []levelOption
	// Started is the level of the configuration, to which the next start returns;
	// "" when it is the one that counts now.
	Started string
	// Levels are those of single parts, as they were written.
	Levels string
}

type levelOption struct {
	Name    string
	About   phrase.Phrase
	Current bool
}

// logOf shows what is logged at the level now; settings are what was configured.
func logOf(now string, settings []service.Setting) logView {
	v := logView{Choices: []levelOption{
		{Name: "error", About: phrase.New("errors only")},
		{Name: "warn", About: phrase.New("and warnings")},
		{Name: "info", About: phrase.New("normal activity")},
		{Name: "debug", About: phrase.New("details")},
		{Name: "trace", About: phrase.New("everything")},
	}}
	for i, c := range v.Choices {
		v.Choices[i].Current = c.Name == now
	}
	for _, s := range settings {
		switch value := strings.ToLower(s.Value); s.Name {
		case "log.level":
			known := slices.ContainsFunc(v.Choices, func(c levelOption) bool { return c.Name == value })
			if known && value != now {
				v.Started = value
			}
		case "log.levels":
			v.Levels = s.Value
		}
	}
	return v
}

// setLogLevel changes the level of the log.
func (h *Handler) setLogLevel(w http.ResponseWriter, r *http.Request) {
	err := h.service.SetLogLevel(r.Context(), h.ActorOf(r), r.PostFormValue("level"))
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		h.RenderError(w, r, http.StatusUnprocessableEntity, page.Problem{
			Title: phrase.New("There is no such level"), Detail: phrase.New("Choose one of the list. Nothing was changed."),
			Back: phrase.New("Go to Settings"), BackTo: "/settings#log",
		})
		return
	}
	h.Finish(w, r, err, "change the level of the log", "/settings#log")
}
