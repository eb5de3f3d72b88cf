package config

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func exampleTypes(t testing.TB) ([]kind.Type, map[kind.Kind]option.Schema) {
	t.Helper()
	host, err := option.Of[struct {
		Auto      bool   `option:"auto" default:"true" help:"Run on every update"`
		Threshold string `option:"threshold" default:"all" choices:"all,major" help:"Least important update"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	return []kind.Type{
		{
			Kind: kind.Trigger, Name: "smtp", Summary: "Send a mail", DocsURL: "https://example.org/smtp",
			Options: mailSchema(t),
		},
		{Kind: kind.Trigger, Name: "mock", Summary: "Do nothing", DefaultName: "local"},
		{Kind: kind.Watcher, Name: "docker", Summary: "Watch a Docker engine", DefaultName: "local"},
	}, map[kind.Kind]option.Schema{kind.Trigger: host}
}

func TestReferenceOfOptions(t *testing.T) {
	golden(t, "testdata/reference.md", Reference(exampleTypes(t)))
}

// TestSampleChangesNothing: the sample says what is the case anyway, in both senses: it is
// all comment, and with the comment signs removed it changes nothing.
func TestSampleChangesNothing(t *testing.T) {
	sample, err := Sample(exampleTypes(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/sample.yaml", sample)
	c, err := loadFile(sample)
	if err != nil || len(c.Problems) > 0 || len(c.sources) > 0 || len(c.Components) > 0 {
		t.Error("as it is:", err, c.Problems, c.sources)
	}
	var b strings.Builder
	for line := range strings.Lines(sample) {
		b.WriteString(strings.TrimPrefix(line, "#"))
	}
	used, err := loadFile(strings.TrimPrefix(b.String(),
		" Everything that can be set. Remove the # in front of what you need, sections included.\n"))
	if err != nil || len(used.Problems) > 0 || len(used.Components) != 2 {
		t.Fatal("without #:", err, used.Problems, used.Components)
	}
	for name, want := range c.values {
		if got := used.values[name]; !equal(got, want) {
			t.Errorf("%s is %v, by default %v", name, got, want)
		}
	}
	for _, component := range used.Components {
		if component.Type == "smtp" {
			host, _ := exampleHost(t)
			_, problems := component.Resolve(append(mailSchema(t), host...))
			if len(problems) != 1 || !strings.Contains(problems[0].String(), "host: is required") {
				t.Error(problems)
			}
		}
	}
}

func exampleHost(t testing.TB) (option.Schema, error) {
	_, host := exampleTypes(t)
	return host[kind.Trigger], nil
}

func equal(a, b any) bool {
	x, listX := a.([]string)
	y, listY := b.([]string)
	if listX || listY {
		return strings.Join(x, ",") == strings.Join(y, ",")
	}
	return a == b
}

func TestShowMasksSecrets(t *testing.T) {
	const secret = "hunter2-and-more"
	text := `
server: { port: 8080 }
publicurl: https://ana:` + secret + `@example.org/
registry:
  hub: { public: }
trigger:
  smtp:
    main:
      host: mx.example.org
      from: a@example.org
      pass: ` + secret + `
      passs: ` + secret + `
      tokn: [` + secret + `, b]
      address: https://ana:` + secret + `@example.org
      timeout: soon
      tags: [x, "y: z"]
      body: "one\ntwo"
  unknown:
    main: { key: ` + secret + ` }
auth: { basic: { ana: { user: ana, hash: ` + secret + ` } } }
`
	c, err := loadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	schema := func(k kind.Kind, typ string) (option.Schema, bool) {
		switch typ {
		case "smtp":
			s := mailSchema(t)
			for i := range s {
				if s[i].Name == "url" {
					s[i].Type = option.URL
				}
			}
			return s, true
		case "hub":
			return nil, true
		}
		return nil, false
	}
	for name, all := range map[string]bool{"testdata/show.yaml": false, "testdata/show-all.yaml": true} {
		got, err := Show(c, schema, all)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got, secret) {
			t.Errorf("a secret is shown:\n%s", got)
		}
		golden(t, name, got)
		if again, err := loadFile(got); err != nil {
			t.Error("what is shown is no YAML:", err, again)
		}
	}
}

func TestHelp(t *testing.T) {
	help := Help()
	if got := help["server.port"]; got != "Port to listen on; 0 takes any free one" {
		t.Errorf("server.port: %q", got)
	}
	if len(help) < 70 {
		t.Errorf("only %d settings", len(help))
	}
}
