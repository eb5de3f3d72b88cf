package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func noSchema(kind.Kind, string) (option.Schema, bool) { return nil, false }

// TestCorpusVariables maps each variable found in public deployments, with
// each value that is known, alone, and compares what becomes of it: a setting,
// a component or one clear warning. What the options make of the values is
// compared where the types are known, with the command.
func TestCorpusVariables(t *testing.T) {
	var got strings.Builder
	for _, line := range corpusVariables(t) {
		variable := strings.ReplaceAll(line, "{name}", "MAIN")
		name, _, _ := strings.Cut(variable, "=")
		files := map[string]string{"x": "secret\n"}
		c, err := Load(Input{Environ: []string{"HOME=/h", variable}, WatcherTypes: []string{"docker"}, Open: memory(files)})
		if err != nil {
			t.Errorf("%s: refused: %v", line, err)
			continue
		}
		outcome := strings.TrimSpace(outcomeOf(c, name))
		if outcome == "" && !strings.HasSuffix(line, "=") {
			t.Errorf("%s: no outcome", line)
		}
		fmt.Fprintf(&got, "%s\n\t%s\n", line, outcome)
	}
	golden(t, "testdata/wud-variables.golden", got.String())
}

// corpusVariables returns every variable of the corpus, with each of its
// values, with one of ours where none was kept, and empty where it was found so.
func corpusVariables(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/corpus/env.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Variables []struct {
			Name   string
			Forms  map[string]int
			Values []struct{ Value string }
		}
	}
	if err := json.Unmarshal(data, &corpus); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range corpus.Variables {
		for _, known := range v.Values {
			if value := composed(known.Value); value != "" {
				lines = append(lines, v.Name+"="+value)
			}
		}
		switch {
		case len(v.Values) > 0:
		case strings.HasSuffix(v.Name, "_URL"):
			lines = append(lines, v.Name+"=https://example.org")
		default:
			lines = append(lines, v.Name+"=x")
		}
		if v.Forms["empty"] > 0 {
			lines = append(lines, v.Name+"=")
		}
	}
	return lines
}

// composed returns what Compose makes of a value: $$ is $, and of
// ${NAME:-default} remains the default; "" when there is none.
func composed(value string) string {
	if rest, is := strings.CutPrefix(value, "${"); is {
		_, fallback, _ := strings.Cut(strings.TrimSuffix(rest, "}"), ":-")
		return fallback
	}
	return strings.ReplaceAll(value, "$$", "$")
}

// TestLoadExplainsOdditiesOfTheCorpus: every oddity of the corpus works, or is refused in words
// that say what to do.
func TestLoadExplainsOdditiesOfTheCorpus(t *testing.T) {
	data, err := os.ReadFile("testdata/corpus/env.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct{ Oddities []string }
	if err := json.Unmarshal(data, &corpus); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ oddity, variable, want string }{
		{"component names in lower", "WUD_WATCHER_local_CRON=0 1 * * *", "watcher.docker.local cron"},
		{"component names in lower", "WUD_TRIGGER_DOCKERCOMPOSE_qBittorent_FILE=/c.yml",
			"trigger.dockercompose.qbittorent file"},
		{"component names in lower", "WUD_TRIGGER_NTFY_ntfy_URL=https://ntfy.example.org", "trigger.ntfy.ntfy url"},
		{"numeric names", "WUD_TRIGGER_DISCORD_1_URL=https://discord.example.org", "trigger.discord.1 url"},
		{"numeric names", "WUD_TRIGGER_TELEGRAM_1_BOTTOKEN=x", "trigger.telegram.1 bottoken"},
		{"names that are provider types", "WUD_WATCHER_DOCKER_CRON=0 1 * * *", "watcher.docker.docker cron"},
		// an unknown option, see TestResolveReportsMistakesOfOptions
		{"a name with an underscore", "WUD_TRIGGER_DISCORD_INFRA_ALERTS_URL=https://discord.example.org",
			"trigger.discord.infra alerts.url"},
		{"inline comments", "WUD_LOG_LEVEL=info # Supported values: trace, debug",
			"error: log.level: want one of trace, debug, info, warn, error, fatal, got \"info # Supported values: trace, debug\" (env WUD_LOG_LEVEL); the comment is part of the value; remove it"},
		{"quoted values", `WUD_LOG_LEVEL="DEBUG"`, "log.level = debug"},
		{"options that do not exist", "WUD_API_KEY=x", "warning: api.key: unknown setting (env WUD_API_KEY); remove it, or correct its name"},
		{"options that do not exist", "WUD_TRIGGER_DISCORD_MAIN_WEBHOOKURL=x", "trigger.discord.main webhookurl"},
		{"trigger types that do not exist", "WUD_TRIGGER_WATCHTOWER_MAIN_URL=x", "trigger.watchtower.main url"},
		{"registry variables without a name", "WUD_REGISTRY_HUB_LOGIN=ana",
			"warning: registry.hub.login: the name is missing (env WUD_REGISTRY_HUB_LOGIN); write WUD_REGISTRY_HUB_PRIVATE_LOGIN"},
		{"six-field cron", "WUD_WATCHER_MAIN_CRON=0 0 */12 * * *", "watcher.docker.main cron"},
		{"SOCKET set to a URL", "WUD_WATCHER_MAIN_SOCKET=tcp://docker-socket-proxy:2375", "watcher.docker.main socket"},
		{"registry URL with a repository path",
			"WUD_REGISTRY_CUSTOM_MAIN_URL=https://registry.example.org/library/app:1.0", "registry.custom.main url"},
		{"empty values", "WUD_TRIGGER_SMTP_MAIN_HOST=",
			"warning: trigger.smtp.main: does not exist, since all its variables are empty (env WUD_TRIGGER_SMTP_MAIN_HOST); give them values or remove them"},
	}
	for _, c := range cases {
		name, _, _ := strings.Cut(c.variable, "=")
		loaded, err := Load(Input{
			Environ: []string{"HOME=/h", c.variable}, WatcherTypes: []string{"docker"}, Open: memory(nil),
		})
		if got := outcomeOf(loaded, name); err != nil || got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.variable, got, err, c.want)
		}
	}
	for _, oddity := range corpus.Oddities {
		if !slices.ContainsFunc(cases, func(c struct{ oddity, variable, want string }) bool {
			return strings.HasPrefix(oddity, c.oddity)
		}) {
			t.Errorf("nobody tests: %s", oddity)
		}
	}
}

// TestSecretFileOverridesValueOfWUDAlone: of a value and its file What's Up Docker takes the file.
// In our own variables and in files, both are a mistake.
func TestSecretFileOverridesValueOfWUDAlone(t *testing.T) {
	for _, prefix := range []string{"WUD_", "DOGWATCH_"} {
		name := prefix + "TRIGGER_SMTP_MAIN_PASS"
		c, err := Load(Input{
			Environ: []string{"HOME=/h", name + "=inline", name + "__FILE=/s"}, Open: memory(map[string]string{"s": "filed\n"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		pass := c.Components[0].Options["pass"].V
		if prefix == "WUD_" {
			if pass != "filed" || len(c.Problems) != 1 ||
				c.Problems[0].String() != "trigger.smtp.main.pass: is not used, since its file is set, too (env WUD_TRIGGER_SMTP_MAIN_PASS); remove one" {
				t.Errorf("%s: %v, %v", name, pass, c.Problems)
			}
		} else if pass != nil || len(c.Components[0].Problems) != 1 {
			t.Errorf("%s: %v, %v", name, pass, c.Components[0].Problems)
		}
	}
}

func outcomeOf(c *Config, name string) string {
	var lines []string
	for path, source := range c.sources {
		if strings.Contains(source, name) {
			lines = append(lines, fmt.Sprintf("%s = %v", path, c.values[path]))
		}
	}
	for _, component := range slices.Concat(c.Components, c.Auth) {
		for option := range component.Options {
			lines = append(lines, component.Key()+" "+option)
		}
	}
	for _, p := range c.Problems {
		if strings.Contains(p.Source, name) {
			lines = append(lines, p.Level.String()+": "+p.String())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n\t")
}

// golden compares got with a file, or rewrites it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", name, got)
	}
}

// TestEnvNameRoundTrip: the variable that is documented for a path sets that path.
func TestEnvNameRoundTrip(t *testing.T) {
	paths := []string{"trigger.smtp.main.tls.verify", "registry.ecr.private.region", "watcher.docker.local.cron",
		"auth.basic.ana.hash"}
	for _, o := range settingsSchema() {
		paths = append(paths, o.Name)
	}
	for _, path := range paths {
		for _, name := range []string{EnvName(path), wudName(path), strings.ToLower(EnvName(path)),
			EnvName(path) + "__FILE"} {
			got, problem := envPath(name, []string{"docker"}, nil)
			if problem != nil || strings.TrimSuffix(got, fileSuffix) != path {
				t.Errorf("%s is read as %s (%v), want %s", name, got, problem, path)
			}
		}
	}
}

// TestProblemsHoldNoValues: a value that stands where no schema vouches for
// it may be a secret.
func TestProblemsHoldNoValues(t *testing.T) {
	const secret = "hunter2"
	environ := []string{"HOME=/h"}
	for _, name := range []string{
		"DOGWATCH_PASSWORD", "DOGWATCH_TRIGGER", "DOGWATCH_TRIGGER_SMTP", "DOGWATCH_TRIGGER_SMTP_PASS",
		"DOGWATCH_TRIGER_SMTP_MAIN_PASS",
		"DOGWATCH_TRIGGER_SMTP_A__PASS", "DOGWATCH_TRIGGER_SMTP_A/B_PASS", "DOGWATCH_TRIGGER_SMTP_MAIN_PASS",
		"dogwatch_trigger_smtp_main_pass", "WUD_AUTH_BASIC_HASH",
		"WUD_AUTH_BASIC_ANA_HASH", "WUD_API_KEY", "WUD_REGISTRY_HUB_PASSWORD", "WUD_STORE_FILE", "WUD_STORE",
		"WUD_TRIGGER_A::B_C_D", "DOGWATCH_WATCHER_DOKCER_A_PASS",
	} {
		environ = append(environ, name+"="+secret+name)
	}
	c, err := Load(Input{Environ: environ, WatcherTypes: []string{"docker"}, Open: memory(nil)})
	if err != nil || len(c.Problems) < 10 {
		t.Fatal(err, len(c.Problems))
	}
	problems := c.Problems
	for _, component := range c.Components {
		_, more := component.Resolve(mailSchema(t))
		problems = append(problems, more...)
	}
	for _, p := range problems {
		if strings.Contains(p.String(), secret) {
			t.Error(p)
		}
	}
}

// TestAuthRequiredByAnyLogin: any way to log in, even a mistaken one, keeps the server from being open.
func TestAuthRequiredByAnyLogin(t *testing.T) {
	for variable, want := range map[string]bool{
		"WUD_AUTH_BASIC_ANA_USER=ana": true, "WUD_AUTH_BASIC_USER=ana": true, "WUD_AUTH_USER=ana": true,
		"DOGWATCH_AUTH_OIDC_X_CLIENTSECRET__FILE=/missing": true,
		"WUD_AUTH_BASIC_ANA_USER=":                         true, "DOGWATCH_AUTH_LDAP_X_URL=x": true,
		"DOGWATCH_AUTH_BASIC_A_B__FILE=": true, "WUD_AUTH_BASIC_HASH=": true,
		"WUD_AUTH_ANONYMOUS_X_Y=z": false, "WUD_AUTH_ANONYMOUS_X_Y=": false, "WUD_SERVER_PORT=3000": false,
	} {
		c, err := Load(Input{Environ: []string{"HOME=/h", variable}, Open: memory(nil)})
		if err != nil || c.AuthRequired != want {
			t.Errorf("%s: required is %v, %v", variable, c.AuthRequired, err)
		}
	}
	for text, want := range map[string]bool{
		"auth: { basic: { ana: { user: ana } } }": true, "auth: { basic: ana }": true, "auth: {}": false,
		"auth: { anonymous: { x: {} } }":              false,
		"auth: { basic: { ana: { user: , hash: } } }": true, "auth: { basic: }": true,
	} {
		c, err := Load(Input{
			File: "dogwatch.yaml", Environ: []string{"HOME=/h"}, Open: memory(map[string]string{"dogwatch.yaml": text}),
		})
		if err != nil || c.AuthRequired != want {
			t.Errorf("%s: required is %v, %v", text, c.AuthRequired, err)
		}
	}
}

func FuzzEnv(f *testing.F) {
	for _, seed := range []string{
		"DOGWATCH_TRIGGER_SMTP_MAIN_TLS_VERIFY=true", "WUD_WATCHER_local_CRON=x", "DOGWATCH_WATCHER_DOCKER_A_B__FILE=x",
		"WUD__=", "DOGWATCH_", "WUD_PORT=tcp://x",
		"DOGWATCH_WATCHER_=1", "WUD_AUTH_BASIC_A_B=c", "dogwatch_server_port=70000", "WUD_REGISTRY_İ_ı_x=1",
		"WUD_TRIGGER_A::B_C_D=1", "WUD_STORE_FILE__FILE=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, variable string) {
		c, err := Load(Input{
			Environ: []string{"HOME=/h", variable}, WatcherTypes: []string{"docker"}, Open: memory(map[string]string{"x": "y"}),
		})
		if err != nil && len(c.Problems) == 0 {
			t.Error("refused without a problem")
		}
		name, value, _ := strings.Cut(variable, "=")
		ours := isNative(name) || isWUD(name)
		if !ours && (len(c.Problems) > 0 || len(c.Components) > 0) {
			t.Errorf("%q is not ours and had an effect", name)
		}
		settled := len(c.Problems)+len(c.Components)+len(c.Auth)+len(c.sources) > 0
		ignored := isServiceLink(name, value) || isOfCommands(strings.ToUpper(name)) ||
			strings.EqualFold(name, "WUD_VERSION")
		if ours && value != "" && !ignored && !settled {
			t.Errorf("%q has no effect and nothing says so", variable)
		}
		for _, component := range c.Components {
			if !nameForm().MatchString(component.Name) || !typeForm().MatchString(component.Type) {
				t.Errorf("component %q", component.Key())
			}
		}
	})
}

// TestWUDFile: the file of What's Up Docker is known by the name that it was given there.
func TestWUDFile(t *testing.T) {
	for variable, want := range map[string]string{
		"": "wud.json", "WUD_STORE_FILE=": "wud.json", "WUD_STORE_FILE=my.json": "my.json",
		"wud_store_file=my.json": "my.json", "DOGWATCH_STORE_FILE=x.db": "wud.json",
	} {
		c, err := Load(Input{Environ: []string{"HOME=/h", variable}, Open: memory(nil)})
		if err != nil || c.WUDFile != want || len(c.Problems) > 0 {
			t.Errorf("%q: %q, %v, %v", variable, c.WUDFile, c.Problems, err)
		}
	}
}

// TestEnvPathOfOtherWatcherTypes: a type of a third party is known by its place, since
// Docker watchers have no option of so many words; a group of theirs would have.
func TestEnvPathOfOtherWatcherTypes(t *testing.T) {
	docker := option.Schema{{Name: "socket"}, {Name: "cron"}, {Name: "tls.cafile", Aliases: []string{"cert.ca"}}}
	for name, want := range map[string]string{
		"DOGWATCH_WATCHER_JSONFILE_LAB_PATH":        "watcher.jsonfile.lab.path",
		"DOGWATCH_WATCHER_JSONFILE_LAB_TLS_CAFILE":  "watcher.jsonfile.lab.tls.cafile",
		"DOGWATCH_WATCHER_JSONFILE_LAB_TOKEN__FILE": "watcher.jsonfile.lab.token__file",
		"DOGWATCH_WATCHER_SHELF_MAIN_CRON":          "watcher.shelf.main.cron",
		"DOGWATCH_WATCHER_SHELF_CRON":               "watcher.docker.shelf.cron",
		"DOGWATCH_WATCHER_LOCAL_SOCKET":             "watcher.docker.local.socket",
		"DOGWATCH_WATCHER_LOCAL_TLS_CAFILE":         "watcher.docker.local.tls.cafile",
		"DOGWATCH_WATCHER_LOCAL_TLS_CAFIEL":         "watcher.docker.local.tls.cafiel",
		"DOGWATCH_WATCHER_LOCAL_CERT_CA":            "watcher.docker.local.cert.ca",
		"DOGWATCH_WATCHER_DOCKER_LOCAL_TLS_CAFILE":  "watcher.docker.local.tls.cafile",
		"WUD_WATCHER_LOCAL_SOME_PATH":               "watcher.docker.local.some.path",
	} {
		if got, problem := envPath(name, []string{"docker"}, docker); got != want || problem != nil {
			t.Errorf("%s is read as %q (%v), want %q", name, got, problem, want)
		}
	}
	if got, problem := envPath("DOGWATCH_WATCHER_DOKCER_LOCAL_PORT", []string{"docker"}, docker); got != "" ||
		problem == nil {
		t.Errorf("a type that is almost a known one is read as %q", got)
	}
}

// TestFromWUD: any variable of What's Up Docker tells, but not an empty one, nor those that a service of that name
// leaves.
func TestFromWUD(t *testing.T) {
	for variable, want := range map[string]bool{
		"WUD_TRIGGER_MQTT_HOME_URL=mqtt://broker": true, "wud_store_file=x.json": true, "WUD_LOG_LEVEL=": false,
		"DOGWATCH_LOG_LEVEL=debug": false, "WUD_SERVICE_HOST=10.0.0.1": false, "PATH=/bin": false,
	} {
		if got := fromWUD([]string{variable}); got != want {
			t.Errorf("%s: %t", variable, got)
		}
	}
}
