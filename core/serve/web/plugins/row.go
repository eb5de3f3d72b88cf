package plugins

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// row is a plugin in words.
type row struct {
	service.Plugin
	// Types are what it holds.
	Types []holding
	// Missing are the capabilities that it asks for in vain, Grants those that the user
	// who sees the page can grant or take away.
	Missing []string
	Grants  []capability
	// Anchor is its place on the page, Path the start of its addresses.
	Anchor, Path string
	State        words.State
	// Means says what the state means, and what to do about it.
	Means  phrase.Phrase
	Memory phrase.Phrase
	// Built says what its SDK means; nil for nothing.
	Built phrase.Phrase
	// Trust is true when the file can be accepted, by the user who sees the page.
	Trust bool
	// Changes are what that user can have done with the file.
	Changes []button
}

// Needed is whether something that is configured uses the plugin.
func (r row) Needed() bool { return r.Plugin.State != plugin.Stopped }

// holding is a type that a plugin holds: "smtp", or "trigger smtp" where there are types of several kinds.
type holding struct{ Name, Path string }

func newRow(b service.Plugin, operator bool) row {
	row := row{Plugin: b, Anchor: b.Name, Path: pathOf(b.Name), Memory: words.Bytes(b.Memory)}
	for _, t := range b.Types {
		name := t.Type
		if !oneKind(b) {
			name = string(t.Kind) + " " + name
		}
		row.Types = append(row.Types, holding{name, page.TypePath(t.Kind, t.Type)})
	}
	if note := plugin.SDKNote(b.SDK); note != nil {
		row.Built = phrase.New("This plugin was %s.", note)
	}
	if operator {
		row.Grants = grantsOf(b)
	}
	if in := b.Installed; in != nil {
		row.Changes = buttons(operator, map[service.PluginChange]bool{
			service.UpdatePlugin: in.Available != "" && in.Key != "", service.RollBackPlugin: in.Previous != "",
		})
	}
	for _, capability := range b.Requested {
		if !slices.Contains(b.Status.Grants, capability) {
			row.Missing = append(row.Missing, capability)
		}
	}
	word := phrase.Capital(stateWord(b.State))
	switch b.State {
	case plugin.Running:
		row.State = words.State{Word: word, Class: "ok"}
		if b.Error != "" {
			row.Trust = !b.Builtin && operator && b.SHA256 != ""
			row.Means = phrase.Join(" ", phrase.New(
				"Its file is another one now, which may not run. The process of the file before goes on until it ends."),
				trustAdvice(row.Trust, operator))
		}
	case plugin.Starting:
		row.State = words.State{Word: word, Class: "muted"}
	case plugin.Stopped:
		row.State, row.Means = words.State{Word: word, Class: "muted"}, unneeded(b)
	case plugin.Asleep:
		row.State, row.Means = words.State{Word: word, Class: "muted"},
			phrase.New("It has had nothing to do for a while, so no process runs. It starts by itself as soon as it is needed.")
	case plugin.Backoff:
		row.State, row.Means = words.State{Word: word, Class: "failed"},
			phrase.New("It crashed and is started again after a pause. Restart tries at once.")
	case plugin.Broken:
		row.State, row.Means = words.State{Word: word, Class: "failed"},
			phrase.Join(" ", affected(b), phrase.New("It wrote nothing before it ended: ask its author, or reinstall it, then press Restart."))
		if len(b.Output) > 0 {
			row.Means = phrase.Join(" ", affected(b),
				phrase.New("See the last lines it wrote, correct the cause, then press Restart."))
		}
	case plugin.Untrusted:
		row.State, row.Trust = words.State{Word: word, Class: "failed"}, !b.Builtin && operator && b.SHA256 != ""
		row.Means = phrase.Join(" ", phrase.New("Its file is not the one that was trusted, or others may write it."),
			trustAdvice(row.Trust, operator))
	case plugin.Rejected:
		if b.HeldBy != "" {
			row.State, row.Means = words.State{Word: word, Class: "failed"},
				phrase.New("A type has one plugin, the one that had it first. As soon as the file of %s is gone this one is judged again.",
					b.HeldBy)
			break
		}
		row.State, row.Means = words.State{Word: word, Class: "failed"},
			phrase.New("It is no plugin that this version can use. Replace or remove its file and restart it.")
	default:
		row.State = words.State{Word: word, Class: "muted"}
	}
	return row
}

// oneKind reports whether all types of a plugin are of one kind.
func oneKind(b service.Plugin) bool {
	return !slices.ContainsFunc(b.Types, func(t plugin.TypeName) bool { return t.Kind != b.Types[0].Kind })
}

// unneeded says that nothing uses a plugin.
func unneeded(b service.Plugin) phrase.Phrase {
	other := phrase.New("Nothing that is configured needs it, so it is not running.")
	return byKind(b, other, map[kind.Kind]phrase.Phrase{
		kind.Watcher:  phrase.New("No configured watcher needs it, so it is not running."),
		kind.Registry: phrase.New("No configured registry needs it, so it is not running."),
		kind.Trigger:  phrase.New("No configured trigger needs it, so it is not running."),
	})
}

// affected says what does not work without a plugin.
func affected(b service.Plugin) phrase.Phrase {
	return byKind(b, phrase.New("What needs it does not work."), map[kind.Kind]phrase.Phrase{
		kind.Watcher:  phrase.New("Its watchers do not work."),
		kind.Registry: phrase.New("Its registries do not work."),
		kind.Trigger:  phrase.New("Its triggers do not work."),
	})
}

// byKind returns what is said of a plugin whose types are of one kind, or else other. One that never ran has no types,
// and a name that tells.
func byKind(b service.Plugin, other phrase.Phrase, said map[kind.Kind]phrase.Phrase) phrase.Phrase {
	named, _, _ := strings.Cut(b.Name, "-")
	of := kind.Kind(named)
	if len(b.Types) > 0 {
		of = b.Types[0].Kind
	}
	if !oneKind(b) {
		return other
	}
	return cmp.Or(said[of], other)
}

// stateWord is the state of a plugin in a word or two.
func stateWord(s plugin.State) phrase.Phrase {
	if s == plugin.Broken {
		return words.Down()
	}
	return phrase.Read(s.Word(),
		"not needed", "waiting", "running", "starting", "asleep", "untrusted", "rejected")
}

// trustAdvice is what to do about a file that is not trusted.
func trustAdvice(can, operator bool) phrase.Phrase {
	switch {
	case can:
		return phrase.New("If you replaced it yourself, trust the file with the checksum below.")
	case !operator:
		return phrase.New("Who is logged in can trust it.")
	}
	return nil
}
