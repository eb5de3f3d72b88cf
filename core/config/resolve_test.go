package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/option"
)

type mailOptions struct {
	Host     string        `option:"host,required" help:"Server"`
	Port     int           `option:"port" default:"25" min:"1" max:"65535" help:"Port"`
	Pass     string        `option:"pass,secret,mask=none" help:"Password"`
	From     string        `option:"from" help:"Sender"`
	FromName string        `option:"from.name" default:"Dogwatch" help:"Name of the sender"`
	URL      string        `option:"url,alias=address" help:"Address"`
	Token    string        `option:"token,secret" help:"Token" deprecated:"use pass"`
	Timeout  time.Duration `option:"timeout" default:"10s" help:"Patience"`
	Tags     []string      `option:"tags" default:"a,b" help:"Tags"`
	Body     string        `option:"body" default:"one\ntwo | ${x}" choices:"" help:"Text | with a bar"`
	Mode     string        `option:"mode" default:"simple" choices:"simple,batch" help:"How"`
}

func mailSchema(t testing.TB) option.Schema {
	t.Helper()
	s, err := option.Of[mailOptions]()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestResolveReportsMistakesOfOptions(t *testing.T) {
	c, err := Load(Input{Open: memory(map[string]string{"s/pass": "hunter2\r\n"}), Environ: []string{
		"HOME=/h",
		"DOGWATCH_TRIGGER_SMTP_MAIN_HOSTT=mx",
		"DOGWATCH_TRIGGER_SMTP_MAIN_PORT=\"25\"",
		"DOGWATCH_TRIGGER_SMTP_MAIN_FROM_NAME=Ana",
		"DOGWATCH_TRIGGER_SMTP_MAIN_FROM=a@example.org",
		"DOGWATCH_TRIGGER_SMTP_MAIN_PASS__FILE=/s/pass",
		"DOGWATCH_TRIGGER_SMTP_MAIN_TOKEN=t",
		"DOGWATCH_TRIGGER_SMTP_MAIN_TIMEOUT=5s",
		"WUD_TRIGGER_SMTP_MAIN_MODE=batch # or simple",
		"WUD_TRIGGER_SMTP_INFRA_ALERTS_HOST=mx",
		"DOGWATCH_TRIGGER_SMTP_OTHER_HOST__FILE=/missing",
	}})
	if err != nil || len(c.Problems) > 0 {
		t.Fatal(err, c.Problems)
	}
	values, problems := c.Components[0].Resolve(mailSchema(t))
	for name, want := range map[string]any{"pass": "hunter2", "from": "a@example.org", "from.name": "Ana",
		"timeout": 5 * time.Second, "port": int64(25)} {
		if values[name] != want {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
	check := func(got []Problem, want ...string) {
		t.Helper()
		var lines []string
		for _, p := range got {
			lines = append(lines, p.Level.String()+": "+p.String())
		}
		if !slices.Equal(lines, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
	}
	check(problems,
		`error: trigger.smtp.main.mode: want one of simple, batch, got "batch # or simple" (env WUD_TRIGGER_SMTP_MAIN_MODE); the comment is part of the value; remove it`,
		`warning: trigger.smtp.main.token: is deprecated (env DOGWATCH_TRIGGER_SMTP_MAIN_TOKEN); use pass`,
		`error: trigger.smtp.main.hostt: unknown option (env DOGWATCH_TRIGGER_SMTP_MAIN_HOSTT); did you mean DOGWATCH_TRIGGER_SMTP_MAIN_HOST? It is required: Server`,
	)
	_, problems = c.Components[1].Resolve(mailSchema(t))
	check(problems,
		`error: trigger.smtp.other.host: the file cannot be read: no such file (file /missing (env DOGWATCH_TRIGGER_SMTP_OTHER_HOST__FILE))`)
	_, problems = c.Components[2].Resolve(mailSchema(t))
	check(problems,
		`error: trigger.smtp.infra.host: is required (Server)`,
		`warning: trigger.smtp.infra.alerts.host: unknown option (env WUD_TRIGGER_SMTP_INFRA_ALERTS_HOST); a name has no underscore: if INFRA_ALERTS is the name, write WUD_TRIGGER_SMTP_INFRAALERTS_HOST`,
	)
}

func TestVerdictOfProblems(t *testing.T) {
	warning, mistake := Problem{Message: "w"}, Problem{Message: "e", Level: Error}
	for _, c := range []struct {
		problems []Problem
		strict   bool
		want     string
	}{
		{nil, true, ""},
		{[]Problem{warning}, false, ""},
		{[]Problem{warning}, true, "w"},
		{[]Problem{warning, mistake}, false, "e"},
	} {
		got := ""
		if err := Verdict(c.problems, c.strict); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v strict %v: got %q, want %q", c.problems, c.strict, got, c.want)
		}
	}
}
