package web

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/dogwatch/dogwatch/core/auth"
)

// pluginPage is the list of plugins.
type pluginPage struct {
	Summary string
	Rows    []pluginRow
	// Said is what a button just did.
	Said string
}

// pluginRow is a plugin in words.
type pluginRow struct {
	Plugin
	// Anchor is its place on the page, Path the start of its addresses.
	Anchor, Path string
	State        stateWord
	// Means says what the state means, and what to do about it.
	Means  string
	Memory string
	// Trust is true when the file can be accepted, by whoever looks at the page.
	Trust bool
}

func newPluginPage(all []Plugin, said string, operator bool) pluginPage {
	p := pluginPage{Said: said, Rows: make([]pluginRow, len(all))}
	running, bad := 0, 0
	var memory int64
	for i, b := range all {
		row := newPluginRow(b, operator)
		p.Rows[i] = row
		memory += b.Memory
		switch row.State.Class {
		case "ok":
			running++
		case "failed":
			bad++
		}
	}
	p.Summary = fmt.Sprintf("%s, %d running", plural(len(all), "plugin"), running)
	if bad > 0 {
		p.Summary += fmt.Sprintf(", %d that need you", bad)
	}
	if memory > 0 {
		p.Summary += ", " + bytesWord(memory) + " together"
	}
	return p
}

func newPluginRow(b Plugin, operator bool) pluginRow {
	row := pluginRow{Plugin: b, Anchor: b.Name, Path: "/plugins/" + url.PathEscape(b.Name), Memory: bytesWord(b.Memory)}
	switch b.State {
	case "running":
		row.State = stateWord{"Running", "ok"}
	case "starting":
		row.State = stateWord{"Starting", "muted"}
	case "stopped":
		row.State, row.Means = stateWord{"Not needed", "muted"}, "Nothing that is configured uses it, so no process runs."
	case "backoff":
		row.State, row.Means = stateWord{"Waiting", "failed"}, "It died and is started again after a pause. Restart tries at once."
	case "broken":
		row.State, row.Means = stateWord{"Broken", "failed"}, "It died too often in a row. Its log lines say why; Restart gives it another chance."
	case "untrusted":
		row.State, row.Trust = stateWord{"Not trusted", "failed"}, !b.Builtin && operator && b.SHA256 != ""
		row.Means = "Its file is not the one that was trusted, or others may write it."
		switch {
		case row.Trust:
			row.Means += " If you replaced it yourself, trust the file with the checksum below."
		case !operator:
			row.Means += " Who is logged in can trust it."
		}
	case "rejected":
		row.State, row.Means = stateWord{"Rejected", "failed"}, "It is no plugin that this version can use. Replace or remove its file and restart it."
	default:
		row.State = stateWord{b.State, "muted"}
	}
	return row
}

// bytesWord writes a size as people read it; "" for none.
func bytesWord(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1<<20:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// pluginSaid are the sentences that the address of the page can ask for.
var pluginSaid = map[string]string{
	"restarted": "%s is being restarted.",
	"trusted":   "%s is trusted as it is now and is being started.",
}

func (u *UI) showPlugins(w http.ResponseWriter, r *http.Request) {
	all := u.Processes.All()
	said := ""
	for _, b := range all { // only of what there is, whatever the address says
		if form := pluginSaid[r.FormValue("did")]; form != "" && b.Name == r.FormValue("to") {
			said = fmt.Sprintf(form, b.Name)
		}
	}
	p := newPluginPage(all, said, auth.From(r.Context()).Operator())
	u.live(w, r, "plugins", page{Title: "Plugins", Nav: "plugins", Live: followsPlugins, Content: p})
}

func (u *UI) restartPlugin(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) {
		return
	}
	name := r.PathValue("name")
	if !u.Processes.Restart(name) {
		u.noPlugin(w, r)
		return
	}
	u.pluginDone(w, r, "restarted", name)
}

func (u *UI) trustPlugin(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) {
		return
	}
	name := r.PathValue("name")
	if !auth.From(r.Context()).Operator() {
		u.sorry(w, r, http.StatusForbidden, problem{Title: "This is for people who are logged in", Detail: "A token cannot say which plugins are trusted.", Back: "To the plugins", BackTo: "/plugins"})
		return
	}
	switch known, err := u.Processes.Trust(r.Context(), name, r.PostFormValue("sha256")); {
	case !known:
		u.noPlugin(w, r)
	case err != nil:
		u.sorry(w, r, http.StatusConflict, problem{Title: "The plugin cannot be trusted", Detail: err.Error(), Back: "To the plugins", BackTo: "/plugins"})
	default:
		u.pluginDone(w, r, "trusted", name)
	}
}

func (u *UI) noPlugin(w http.ResponseWriter, r *http.Request) {
	u.sorry(w, r, http.StatusNotFound, problem{
		Title: "There is no such plugin", Detail: "No plugin is called " + r.PathValue("name") + ". Its file may be gone since this page was made.",
		Back: "To the plugins", BackTo: "/plugins",
	})
}

func (u *UI) pluginDone(w http.ResponseWriter, r *http.Request, did, name string) {
	http.Redirect(w, r, u.path("/plugins?"+url.Values{"did": {did}, "to": {name}}.Encode()), http.StatusSeeOther)
}
