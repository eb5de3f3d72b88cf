package settings

import (
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
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
	// Like says how many entries, this one included, say the same but for numbers, and since when; nil for one.
	Like phrase.Phrase
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
	p.Entries = folded(entries, h.Now())
	h.Live(w, r, "log", page.Page{Title: phrase.New("Log"), Nav: "settings", Live: page.FollowsLog, Content: p})
}

// folded are entries, the newest first, of which warnings and errors that differ only in numbers are one line.
func folded(entries []logging.Entry, now time.Time) (lines []logLine) {
	first, times := map[string]int{}, map[string]int{}
	for _, e := range entries {
		key := strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, e.Level+e.Part+": "+e.Message)
		i, again := first[key]
		if times[key]++; again && (e.Level == "warn" || e.Level == "error") {
			lines[i].Like = phrase.New("%d like this since %s", times[key], words.Clock(e.At, now))
			continue
		}
		first[key], lines = len(lines), append(lines, logLine{Entry: e, Class: levelClasses[e.Level]})
	}
	return lines
}
