package service

import (
	"cmp"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
)

// Snippet is a piece of configuration to paste, in both spellings.
type Snippet struct{ YAML, Env string }

// Files reports whether it names files, which are to have secrets in them.
func (s Snippet) Files() bool { return strings.Contains(s.Env, "__FILE=") }

// Single reports whether it is one environment variable.
func (s Snippet) Single() bool { return strings.Count(s.Env, "\n") == 1 }

// Snippet returns what would make a component, as the content of a configuration
// file and as lines of an env file of Docker Compose. Secrets are no part of it:
// the lines name files to keep them in.
func (c Component) Snippet() Snippet {
	var settings []config.Setting
	var lines []string
	add := func(path, variable, value string) {
		settings = append(settings, config.Setting{Path: path, Value: value})
		lines = append(lines, cmp.Or(variable, config.ShortEnvName(path))+"="+envValue(value))
	}
	for _, s := range c.Settings {
		path := c.Key() + "." + s.Name
		switch {
		case !s.Given():
		case s.Secret || strings.Contains(s.Value, "***"): // a URL may have a password
			add(path+"__file", "", "/run/secrets/"+strings.NewReplacer(".", "_", "-", "_").Replace(path))
		default:
			source, _, _ := strings.Cut(s.Source, ",")         // what follows is a note, such as that it is unknown
			variable, env := strings.CutPrefix(source, "env ") // the one that the user knows it by
			if !env {
				variable = ""
			}
			add(path, variable, s.Value)
		}
	}
	if len(settings) == 0 {
		add(c.Key(), "", "true")
	}
	yaml, err := config.Document(settings)
	if err != nil { // the lines say the same
		yaml = ""
	}
	return Snippet{yaml, strings.Join(lines, "\n") + "\n"}
}

// envValue quotes a value for an env file of Docker Compose, which replaces $
// unless it stands in single quotes, and reads \n only in double ones.
func envValue(v string) string {
	switch {
	case strings.ContainsAny(v, "\n\r'") && strings.ContainsAny(v, "\n\r $#\"'\\`"):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "\n", `\n`, "\r", `\r`).Replace(v) + `"`
	case strings.ContainsAny(v, " $#\"\\`\t"):
		return "'" + v + "'"
	}
	return v
}
