package settings

import (
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
)

// shownEntries bounds the entries on the page.
const shownEntries = 200

// logPage shows the last entries of the log.
type logPage struct {
	Part, Level string
	Parts       []string
	Levels      []string
	Entries     []logLine
	// Filtered is whether a filter hides entries, Full whether older ones are left out.
	Filtered, Full bool
}

// logLine is an entry with the class of its colour.
type logLine struct {
	logging.Entry
	Class string
}

// levels are those of a log that can be chosen, as the least severe one.
var levels = []string{"error", "warn", "info", "debug", "trace"}

// levelClasses are the colours of the levels that have one.
var levelClasses = map[string]string{"error": "failed", "warn": "minor", "debug": "muted", "trace": "muted"}

// showLog shows the last entries of the log, of one part of the program or from one level on.
func (h *Handler) showLog(w http.ResponseWriter, r *http.Request) {
	p := logPage{Part: r.URL.Query().Get("part"), Level: r.URL.Query().Get("level"), Levels: levels}
	p.Filtered = p.Part != "" || p.Level != ""
	entries, parts, err := h.service.LogEntries(h.ActorOf(r), logging.Filter{
		Part: p.Part, Level: hclog.LevelFromString(p.Level), Limit: shownEntries + 1,
	})
	if err != nil {
		h.Finish(w, r, err, "read the log", "", forbidden)
		return
	}
	if p.Full = len(entries) > shownEntries; p.Full {
		entries = entries[:shownEntries]
	}
	p.Parts = parts
	for _, e := range entries {
		p.Entries = append(p.Entries, logLine{e, levelClasses[e.Level]})
	}
	h.Live(w, r, "log", page.Page{Title: phrase.New("Log"), Nav: "settings", Live: page.FollowsLog, Content: p})
}
