package service

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func configured(k kind.Kind, typ, name string, settings ...Setting) Component {
	return Component{
		Kind: k, View: component.View{ID: typ + "." + name, Type: typ, Name: name, State: component.Ready},
		Settings: settings,
	}
}

func TestSnippetNamesFilesOfSecrets(t *testing.T) {
	snippet := configured(kind.Trigger, "smtp", "main",
		Setting{Name: "host", Value: "mail.example.org", Source: "env DOGWATCH_TRIGGER_SMTP_MAIN_SERVER"},
		Setting{Name: "pass", Value: "s*****", Secret: true, Source: "env Y"},
		Setting{Name: "proxy", Value: "http://ann:***@proxy:3128", Source: "dogwatch.yaml:3"},
		Setting{Name: "simpletitle", Value: `${container.name} "is" new`, Source: "dogwatch.yaml:4"},
		Setting{Name: "mode", Value: "simple", Source: "default"}).Snippet()
	wantYAML := `trigger:
  smtp:
    main:
      host: mail.example.org
      pass__file: /run/secrets/trigger_smtp_main_pass
      proxy__file: /run/secrets/trigger_smtp_main_proxy
      simpletitle: ${container.name} "is" new
`
	wantEnv := `DOGWATCH_TRIGGER_SMTP_MAIN_SERVER=mail.example.org
DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/run/secrets/trigger_smtp_main_pass
DOGWATCH_TRIGGER_SMTP_MAIN_PROXY__FILE=/run/secrets/trigger_smtp_main_proxy
DOGWATCH_TRIGGER_SMTP_MAIN_SIMPLETITLE='${container.name} "is" new'
`
	if snippet.YAML != wantYAML {
		t.Errorf("YAML:\n%s\nwant\n%s", snippet.YAML, wantYAML)
	}
	if snippet.Env != wantEnv {
		t.Errorf("environment:\n%s\nwant\n%s", snippet.Env, wantEnv)
	}
	snippet = configured(kind.Watcher, "docker", "local",
		Setting{Name: "cron", Value: "0 * * * *", Source: "default"}).Snippet()
	if snippet.YAML != "watcher:\n  docker:\n    local: true\n" &&
		snippet.YAML != "watcher.docker.local: true\n" || snippet.Env != "DOGWATCH_WATCHER_LOCAL=true\n" {
		t.Errorf("of nothing: %q and %q", snippet.YAML, snippet.Env)
	}
}

func TestEnvValue(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"plain":               "plain",
		"0 * * * *":           "'0 * * * *'",
		"a$b":                 "'a$b'",
		"a#b":                 "'a#b'",
		`say "hi"`:            `'say "hi"'`,
		"it's":                `"it's"`,
		"it's $5":             `"it's \$5"`,
		"two\nlines":          `"two\nlines"`,
		`back\slash`:          `'back\slash'`,
		"https://x/y?a=b&c=d": "https://x/y?a=b&c=d",
	} {
		if got := envValue(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// TestSnippetRoundTripsThroughConfig has what a page offers to paste read back as a configuration.
func TestSnippetRoundTripsThroughConfig(t *testing.T) {
	texts := []string{
		"plain", "yes", "null", "~", "1.0", "0x10", "a: b", "- a", "# no comment", "a #b",
		"${container.name} \"is\" new", "it's", "two\nlines\n", "{}", "[a", "*x", "&x",
		"%x", "@x", "`x`", " lead", "trail ", "\\n", "a,b", "ünï", "!tag", "|", ">", "0 * * * *",
	}
	for _, text := range texts {
		yaml := configured(kind.Trigger, "mock", "main",
			Setting{Name: "simplebody", Value: text, Source: "env X"}).Snippet().YAML
		file := fstest.MapFS{"dogwatch.yaml": {Data: []byte(yaml)}}
		open := func(name string) (fs.File, error) { return file.Open(filepath.Base(name)) }
		read, err := config.Load(config.Input{File: "dogwatch.yaml", Environ: []string{"HOME=/h"}, Open: open})
		if err != nil || len(read.Components) != 1 {
			t.Errorf("%q: %v, %v, from\n%s", text, err, read.Problems, yaml)
			continue
		}
		if got := read.Components[0].Options["simplebody"].V; got != text {
			t.Errorf("%q is read as %q, from\n%s", text, got, yaml)
		}
	}
}

// typeOf is of plugins that have one type, whose options are these.
type typeOf struct {
	Plugins
	options option.Schema
}

func (f typeOf) Find(kind.Kind, string) (*plugin.Supervisor, kind.Type, bool) {
	return nil, kind.Type{Options: f.options}, true
}

// TestSettingsListWhatIsMissing: a required option that nobody wrote is listed without a value, one that has an
// alias's value is not.
func TestSettingsListWhatIsMissing(t *testing.T) {
	conf := config.Config{Components: []config.Component{{
		Kind: kind.Trigger, Type: "ntfy", Name: "main", Options: map[string]config.Value{"server": {V: "x", Source: "file"}},
	}}}
	s := &Service{opt: Options{
		Config: func() *config.Config { return &conf }, Redact: func(text string) string { return text },
		Plugins: typeOf{options: option.Schema{
			{Name: "url", Type: option.String, Required: true, Aliases: []string{"server"}},
			{Name: "topic", Type: option.String, Required: true, Help: "Where to"}, {Name: "icon", Type: option.String},
		}},
	}}
	var missing []Setting
	for _, one := range s.settings(&component.Component{Kind: kind.Trigger, Type: "ntfy", Name: "main"}) {
		if one.Missing() {
			missing = append(missing, one)
		}
	}
	want := []Setting{{Name: "topic", Help: "Where to", Source: "default", Required: true}}
	if !slices.Equal(missing, want) {
		t.Errorf("got %v, want %v", missing, want)
	}
}
