package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestNativeRoundTrip: what Native writes is read back as the same configuration,
// secrets of files by the names of these.
func TestNativeRoundTrip(t *testing.T) {
	environ := []string{
		"HOME=/home/ana", "WUD_SERVER_PORT=3001", "WUD_LOG_LEVEL=debug", "DOGWATCH_CHECK_TIMEOUT=1500",
		"WUD_PUBLIC_URL=https://ana:pw@example.org/",
		"WUD_TRIGGER_SMTP_MAIN_HOST=mx", "WUD_TRIGGER_SMTP_MAIN_PORT=25", "WUD_TRIGGER_SMTP_MAIN_PASS__FILE=/secret (1)",
		"WUD_TRIGGER_SMTP_MAIN_FROM=a@example.org", "WUD_TRIGGER_SMTP_MAIN_FROM_NAME=Dog: watch",
		"WUD_TRIGGER_SMTP_MAIN_ADDRESS=x", "WUD_TRIGGER_SMTP_MAIN_TAGS=a,b",
		"WUD_TRIGGER_SMTP_MAIN_TYPO=y", "WUD_TRIGGER_MOCK_X=true", "WUD_WATCHER_LOCAL_CRON=0 * * * *",
		"WUD_AUTH_BASIC_ANA_HASH={SHA}abc",
	}
	files := map[string]string{"secret (1)": "hunter2\n"}
	host, err := exampleHost(t)
	if err != nil {
		t.Fatal(err)
	}
	schema := func(k kind.Kind, typ string) (option.Schema, bool) {
		if typ != "smtp" {
			return nil, false
		}
		return slices.Concat(mailSchema(t), host), true
	}
	before, err := Load(Input{Environ: environ, Open: memory(files)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Native(before, schema)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/native.yaml", text)
	if strings.Contains(text, "hunter2") {
		t.Error("it holds the content of a secret file")
	}
	files["dogwatch.yaml"] = text
	after, err := Load(Input{Environ: environ[:1], Open: memory(files)})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range before.values {
		if got := after.values[name]; !equal(got, want) {
			t.Errorf("%s is %v, was %v", name, got, want)
		}
	}
	for _, c := range slices.Concat(before.Components, before.Auth) {
		all := slices.Concat(after.Components, after.Auth)
		i := slices.IndexFunc(all, func(other Component) bool { return other.Key() == c.Key() })
		if i < 0 {
			t.Errorf("%s is gone", c.Key())
			continue
		}
		s, _ := schema(c.Kind, c.Type)
		want, _ := c.Resolve(s)
		got, _ := all[i].Resolve(s)
		for name := range want {
			if !equal(got[name], want[name]) {
				t.Errorf("%s.%s is %v, was %v", c.Key(), name, got[name], want[name])
			}
		}
		if len(all[i].Options) != len(c.Options) {
			t.Errorf("%s: %v, was %v", c.Key(), all[i].Options, c.Options)
		}
	}
}

func TestListMasksSecrets(t *testing.T) {
	c, err := loadFile("server: { port: 8080 }\ntrigger: { smtp: { main: { pass: hunter2 } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	list := List(c, func(kind.Kind, string) (option.Schema, bool) { return mailSchema(t), true }, false)
	if got, want := fmt.Sprint(list),
		"[{server.port 8080 dogwatch.yaml:1} {trigger.smtp.main.pass h****** dogwatch.yaml:2}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
