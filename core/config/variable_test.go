package config

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func TestVariableNames(t *testing.T) {
	schema := func(_ kind.Kind, typ string) (option.Schema, bool) {
		return mailSchema(t), typ == "smtp" || typ == "docker"
	}
	for _, c := range []struct{ name, value, path, problem string }{
		{"WUD_LOG_LEVEL", "debug", "log.level", ""},
		{"wud_log_level", "", "log.level", ""},
		{"WUD_LOG_LEVEL", "loud", "log.level", "want one of"},
		{"WUD_LOG_LEVEL__FILE", "/x", "log.level__file", ""},
		{"DOGWATCH_PUBLICURL", "https://x.example", "public.url", ""},
		{"WUD_SERVER_PORT", `"1"`, "server.port", ""},
		{"WUD_LOG_LEVLE", "x", "", "unknown setting"},
		{"WUD_SERVER", "x", "", "is a group of settings"},
		{"WUD_TRIGGER_SMTP_MAIN_HOST", "x", "trigger.smtp.main.host", ""},
		{"WUD_TRIGGER_SMTP_Main_ADDRESS", "https://x.example", "trigger.smtp.main.url", ""},
		{"WUD_TRIGGER_SMTP_MAIN_PASS__FILE", "/x", "trigger.smtp.main.pass__file", ""},
		{"WUD_TRIGGER_SMTP_MAIN_PORT", "many", "trigger.smtp.main.port", "want a whole number"},
		{"WUD_TRIGGER_SMTP_MAIN_PROT", "25", "", "unknown option"},
		{"WUD_TRIGGER_SMTP_MAIN", "true", "trigger.smtp.main", ""},
		{"WUD_TRIGGER_SMTP_HOST", "x", "", "the name is missing"},
		{"WUD_TRIGGER_SMTP", "x", "", "the type or the name is missing"},
		{"WUD_TRIGGER_MAIL_MAIN_HOST", "x", "", "there is no trigger type mail in this version"},
		{"WUD_WATCHER_LOCAL_PORT", "25", "watcher.docker.local.port", ""},
		{"DOGWATCH_WATCHER_DOKCER_LOCAL_PORT", "25", "", "unknown watcher type dokcer"},
		{"WUD_AUTH_BASIC_ANA_USER", "x", "auth.basic.ana.user", ""},
		{"WUD_VERSION", "8", "", "set by the image"},
		{"WUD_STORE_FILE", "wud.json", "", "the first start imports"},
		{"DOGWATCH_CONFIG", "x", "", ""},
		{"DOGWATCH_TOKEN", "x", "", ""},
		{"WUD_PORT", "tcp://10.0.0.1:80", "", ""},
		{"WUD_SERVICE_HOST", "10.0.0.1", "", ""},
		{"WUD_X-MINE", "1", "", ""},
		{"PATH", "/bin", "", ""},
	} {
		path, problem := Variable(c.name, c.value, []string{"docker"}, schema)
		message := ""
		if problem != nil {
			message = problem.Message
		}
		if path != c.path || !strings.Contains(message, c.problem) || (message == "") != (c.problem == "") {
			t.Errorf("%s=%s: %q, %q", c.name, c.value, path, message)
		}
	}
}

// FuzzVariable: Variable never says that a name means something to which Load
// pays no attention.
func FuzzVariable(f *testing.F) {
	f.Add("WUD_LOG_LEVEL", "debug")
	f.Add("DOGWATCH_TRIGGER_SMTP_A_B__FILE", "x")
	f.Add("WUD_TRIGGER_A::B_C_D", "1")
	f.Fuzz(func(t *testing.T, name, value string) {
		path, _ := Variable(name, value, []string{"docker"}, func(kind.Kind, string) (option.Schema, bool) {
			return mailSchema(t), true
		})
		if path == "" || value == "" || strings.Contains(name, "=") {
			return
		}
		c, _ := Load(Input{
			Environ: []string{"HOME=/h", name + "=" + value}, WatcherTypes: []string{"docker"},
			Open: memory(map[string]string{value: "x"}),
		})
		if len(c.Components)+len(c.Auth)+len(c.sources)+len(c.Problems) == 0 {
			t.Errorf("%s=%q sets %s and has no effect", name, value, path)
		}
	})
}
