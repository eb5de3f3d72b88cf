package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
)

// Setting is an option of a component, or a setting of the program.
type Setting struct {
	// Name is the dotted name: "log.level"; that of an option is within its component: "tls.verify".
	Name string
	// Value is masked if it is a secret.
	Value  string
	Help   string
	Secret bool
	// Required is whether an option has to be written.
	Required bool
	// Source is where it was written; "default" when nowhere.
	Source string
}

// Given reports whether a user wrote it.
func (s Setting) Given() bool { return s.Source != "default" }

// Missing reports whether it has to be written, and has no value.
func (s Setting) Missing() bool { return s.Required && s.Value == "" }

// Refused reports whether a user wrote it, and it does not work like that.
func (s Setting) Refused() bool { return strings.HasSuffix(s.Source, config.NotAccepted) }

// About is what is known about the installation.
type About struct {
	Version string
	// ConfigFile is the file that was read; "" when there is none.
	ConfigFile string
	// Settings are those of the program itself, secrets masked.
	Settings []Setting
	// Problems are what is wrong with the configuration, in words.
	Problems []string
	Started  time.Time
	// Demo is true when the engine and the registries are simulated.
	Demo bool
}

// About returns what is known about the installation.
func (s *Service) About() About {
	c := s.opt.Config()
	about := About{Version: s.opt.Version, ConfigFile: c.File, Started: s.started, Demo: s.opt.Demo}
	own := *c
	own.Components, own.Auth = nil, nil
	help := config.Help()
	for _, l := range config.List(&own, nil, true) {
		about.Settings = append(about.Settings, Setting{
			Name: l.Path, Value: s.opt.Redact(written(l.Value)), Help: help[l.Path], Source: l.Source,
		})
	}
	for _, p := range slices.Concat(c.Problems, s.opt.Auth.Problems(), s.opt.Policies.Problems(s.opt.Now()),
		s.installProblems(), s.opt.Components.Problems()) {
		if text := s.opt.Redact(p.String()); !slices.Contains(about.Problems, text) {
			about.Problems = append(about.Problems, text)
		}
	}
	return about
}

// written returns a value as one writes it in the environment.
func written(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ",")
	case map[string]any:
		return ""
	case time.Duration:
		text := v.String()
		for _, zero := range []string{"m0s", "h0m"} { // as in 168h0m0s
			if short, ends := strings.CutSuffix(text, zero); ends {
				text = short + zero[:1]
			}
		}
		return text
	}
	return fmt.Sprint(v)
}
