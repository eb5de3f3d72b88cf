package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
)

// pluginPage is the list of plugins.
type pluginPage struct {
	Summary string
	Rows    []pluginRow
	// Said is what a button just did.
	Said  string
	Empty *guide.Empty
}

// pluginRow is a plugin in words.
type pluginRow struct {
	service.Plugin
	// Types are what it holds.
	Types []pluginType
	// Missing are the capabilities that it asks for in vain, Grants those that the user
	// who sees the page can grant or take away.
	Missing []string
	Grants  []pluginGrant
	// Anchor is its place on the page, Path the start of its addresses.
	Anchor, Path string
	State        words.State
	// Means says what the state means, and what to do about it.
	Means  string
	Memory string
	// Trust is true when the file can be accepted, by the user who sees the page.
	Trust bool
}

// pluginGrant is a capability that an installed plugin asks for.
type pluginGrant struct {
	Name, Gives string
	// Granted is true when it has it.
	Granted bool
}

// pluginGrants returns what can be granted to a plugin that was installed: what the
// configuration grants is changed there.
func pluginGrants(b service.Plugin) []pluginGrant {
	if b.Installed == nil {
		return nil
	}
	var all []pluginGrant
	for _, c := range b.Requested {
		byUser := slices.Contains(b.Installed.Granted, c)
		if has := slices.Contains(b.Status.Grants, c); byUser || !has {
			all = append(all, pluginGrant{c, config.Gives(c), byUser})
		}
	}
	return all
}

// pluginType is a type that a plugin holds: "trigger smtp".
type pluginType struct{ Name, Path string }

func newPluginPage(all []service.Plugin, said string, operator bool) pluginPage {
	p := pluginPage{Said: said, Rows: make([]pluginRow, len(all))}
	running, bad := 0, 0
	var memory int64
	for i, b := range all {
		row := newPluginRow(b, operator)
		p.Rows[i] = row
		memory += b.Memory
		if row.State.Class == "ok" {
			running++
		}
		if row.State.Class == "failed" || b.Error != "" {
			bad++
		}
	}
	p.Summary = fmt.Sprintf("%s, %d running", words.Plural(len(all), "plugin"), running)
	if bad > 0 {
		p.Summary += fmt.Sprintf(", %d that need you", bad)
	}
	if memory > 0 {
		p.Summary += ", " + words.Bytes(memory) + " together"
	}
	return p
}

func newPluginRow(b service.Plugin, operator bool) pluginRow {
	row := pluginRow{Plugin: b, Anchor: b.Name, Path: "/plugins/" + url.PathEscape(b.Name), Memory: words.Bytes(b.Memory)}
	for _, t := range b.Types {
		row.Types = append(row.Types, pluginType{string(t.Kind) + " " + t.Type, page.TypePath(t.Kind, t.Type)})
	}
	if operator {
		row.Grants = pluginGrants(b)
	}
	for _, capability := range b.Requested {
		if !slices.Contains(b.Status.Grants, capability) {
			row.Missing = append(row.Missing, capability)
		}
	}
	word := words.Capital(b.State.Word())
	switch b.State {
	case plugin.Running:
		row.State = words.State{Word: word, Class: "ok"}
		if b.Error != "" {
			row.Trust = !b.Builtin && operator && b.SHA256 != ""
			row.Means = "Its file is another one now, which may not run. The process of the file before goes on until it ends." + trustAdvice(row.Trust, operator)
		}
	case plugin.Starting:
		row.State = words.State{Word: word, Class: "muted"}
	case plugin.Stopped:
		row.State, row.Means = words.State{Word: word, Class: "muted"}, "Nothing that is configured uses it, so no process runs."
	case plugin.Backoff:
		row.State, row.Means = words.State{Word: word, Class: "failed"},
			"It died and is started again after a pause. Restart tries at once."
	case plugin.Broken:
		row.State, row.Means = words.State{Word: word, Class: "failed"},
			"It died too often in a row. Its log lines say why; Restart gives it another chance."
	case plugin.Untrusted:
		row.State, row.Trust = words.State{Word: word, Class: "failed"}, !b.Builtin && operator && b.SHA256 != ""
		row.Means = "Its file is not the one that was trusted, or others may write it." + trustAdvice(row.Trust, operator)
	case plugin.Rejected:
		if b.HeldBy != "" {
			row.State, row.Means = words.State{Word: word, Class: "failed"},
				"A type has one plugin, the one that had it first. As soon as the file of "+b.HeldBy+
					" is gone this one is judged again."
			break
		}
		row.State, row.Means = words.State{Word: word, Class: "failed"},
			"It is no plugin that this version can use. Replace or remove its file and restart it."
	default:
		row.State = words.State{Word: word, Class: "muted"}
	}
	return row
}

// trustAdvice is what to do about a file that is not trusted.
func trustAdvice(can, operator bool) string {
	switch {
	case can:
		return " If you replaced it yourself, trust the file with the checksum below."
	case !operator:
		return " Who is logged in can trust it."
	}
	return ""
}

// pluginSaid are the sentences that the address of the page can select.
var pluginSaid = map[string]string{
	"restarted": "%s is being restarted.",
	"trusted":   "%s is trusted as it is now and is being started.",
	"granted":   "%s gets it, and is being started again.",
	"revoked":   "%s has it no more, and is being started again.",
}

func (u *UI) showPlugins(w http.ResponseWriter, r *http.Request) {
	all := u.Service.Plugins()
	said := ""
	for _, b := range all { // only of what there is, whatever the address says
		if form := pluginSaid[r.FormValue("did")]; form != "" && b.Name == r.FormValue("to") {
			said = fmt.Sprintf(form, b.Name)
		}
	}
	p := newPluginPage(all, said, u.ActorOf(r).Operator())
	p.Empty = u.guide.Empty(r.Context(), u.ActorOf(r), len(p.Rows))
	u.Live(w, r, "plugins", page.Page{Title: "Plugins", Nav: "plugins", Live: page.FollowsPlugins, Content: p})
}

func (u *UI) restartPlugin(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	b, err := u.Service.RestartPlugin(u.ActorOf(r), r.PathValue("name"))
	if err != nil {
		u.pluginFailed(w, r, "restart the plugin", err)
		return
	}
	u.pluginDone(w, r, "restarted", b.Name)
}

func (u *UI) trustPlugin(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	b, err := u.Service.TrustPlugin(r.Context(), u.ActorOf(r), r.PathValue("name"), r.PostFormValue("sha256"))
	switch {
	case err == nil:
		u.pluginDone(w, r, "trusted", b.Name)
	case errors.Is(err, service.ErrForbidden):
		u.RenderError(w, r, http.StatusForbidden, page.Problem{
			Title: "This is for people who are logged in", Detail: "A token cannot say which plugins are trusted.",
			Back: "To the plugins", BackTo: "/plugins",
		})
	case errors.Is(err, service.ErrNotFound):
		u.pluginFailed(w, r, "trust the plugin", err)
	default:
		u.RenderError(w, r, http.StatusConflict, page.Problem{
			Title: "The plugin cannot be trusted", Detail: err.Error(), Back: "To the plugins", BackTo: "/plugins",
		})
	}
}

func (u *UI) grantPlugin(w http.ResponseWriter, r *http.Request) {
	if !u.Form(w, r) {
		return
	}
	granted, did := r.PostFormValue("granted") == "true", "revoked"
	if granted {
		did = "granted"
	}
	b, err := u.Service.GrantPlugin(r.Context(), u.ActorOf(r), r.PathValue("name"), r.PostFormValue("capability"), granted)
	switch {
	case err == nil:
		u.pluginDone(w, r, did, b.Name)
	case errors.Is(err, service.ErrForbidden):
		u.RenderError(w, r, http.StatusForbidden, page.Problem{
			Title: "This is for people who are logged in", Detail: "A token cannot say what plugins are granted.",
			Back: "To the plugins", BackTo: "/plugins",
		})
	case errors.Is(err, service.ErrNotFound):
		u.pluginFailed(w, r, "change what the plugin is granted", err)
	default:
		u.RenderError(w, r, http.StatusConflict, page.Problem{
			Title: "What the plugin is granted was not changed", Detail: err.Error(), Back: "To the plugins", BackTo: "/plugins",
		})
	}
}

// pluginFailed renders the error of what a user wanted done with a plugin.
func (u *UI) pluginFailed(w http.ResponseWriter, r *http.Request, doing string, err error) {
	if !errors.Is(err, service.ErrNotFound) {
		u.InternalError(w, r, doing, err)
		return
	}
	u.RenderError(w, r, http.StatusNotFound, page.Problem{
		Title:  "There is no such plugin",
		Detail: "No plugin is called " + r.PathValue("name") + ". Its file may be gone since this page was made.",
		Back:   "To the plugins", BackTo: "/plugins",
	})
}

func (u *UI) pluginDone(w http.ResponseWriter, r *http.Request, did, name string) {
	http.Redirect(w, r, u.Path("/plugins?"+url.Values{"did": {did}, "to": {name}}.Encode()), http.StatusSeeOther)
}
