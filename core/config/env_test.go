package config

import (
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

// TestRealVariables maps each variable found in public deployments, alone, and
// compares what becomes of it: a setting, a component or one clear warning.
func TestRealVariables(t *testing.T) {
	data, err := os.ReadFile("testdata/wud-variables.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
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

// TestEnvNameIsReadBack: the variable that is documented for a path sets that path.
func TestEnvNameIsReadBack(t *testing.T) {
	paths := []string{"trigger.smtp.main.tls.verify", "registry.ecr.private.region", "watcher.docker.local.cron", "auth.basic.ana.hash"}
	for _, o := range settingsSchema() {
		paths = append(paths, o.Name)
	}
	for _, path := range paths {
		for _, name := range []string{EnvName(path), wudName(path), strings.ToLower(EnvName(path)), EnvName(path) + "__FILE"} {
			got, problem := envPath(name, []string{"docker"})
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
		"DOGWATCH_PASSWORD", "DOGWATCH_TRIGGER", "DOGWATCH_TRIGGER_SMTP", "DOGWATCH_TRIGGER_SMTP_PASS", "DOGWATCH_TRIGER_SMTP_MAIN_PASS",
		"DOGWATCH_TRIGGER_SMTP_A__PASS", "DOGWATCH_TRIGGER_SMTP_A/B_PASS", "DOGWATCH_TRIGGER_SMTP_MAIN_PASS", "dogwatch_trigger_smtp_main_pass", "WUD_AUTH_BASIC_HASH",
		"WUD_AUTH_BASIC_ANA_HASH", "WUD_API_KEY", "WUD_REGISTRY_HUB_PASSWORD", "WUD_STORE_FILE", "WUD_STORE", "WUD_TRIGGER_A::B_C_D", "DOGWATCH_WATCHER_DOKCER_A_PASS",
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

func TestAuthIsNotSilent(t *testing.T) {
	for variable, want := range map[string]bool{
		"WUD_AUTH_BASIC_ANA_USER=ana": true, "WUD_AUTH_BASIC_USER=ana": true, "WUD_AUTH_USER=ana": true, "DOGWATCH_AUTH_OIDC_X_CLIENTSECRET__FILE=/missing": true,
		"WUD_AUTH_ANONYMOUS_X_Y=z": false, "WUD_AUTH_BASIC_ANA_USER=": false,
	} {
		c, err := Load(Input{Environ: []string{"HOME=/h", variable}, Open: memory(nil)})
		told := slices.ContainsFunc(c.Problems, func(p Problem) bool { return strings.Contains(p.Message, "the API is open") })
		if err != nil || told != want {
			t.Errorf("%s: told is %v, %v", variable, told, err)
		}
	}
}

func FuzzEnv(f *testing.F) {
	for _, seed := range []string{
		"DOGWATCH_TRIGGER_SMTP_MAIN_TLS_VERIFY=true", "WUD_WATCHER_local_CRON=x", "DOGWATCH_WATCHER_DOCKER_A_B__FILE=x", "WUD__=", "DOGWATCH_", "WUD_PORT=tcp://x",
		"DOGWATCH_WATCHER_=1", "WUD_AUTH_BASIC_A_B=c", "dogwatch_server_port=70000", "WUD_REGISTRY_İ_ı_x=1", "WUD_TRIGGER_A::B_C_D=1", "WUD_STORE_FILE__FILE=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, variable string) {
		c, err := Load(Input{Environ: []string{"HOME=/h", variable}, WatcherTypes: []string{"docker"}, Open: memory(map[string]string{"x": "y"})})
		if err != nil && len(c.Problems) == 0 {
			t.Error("refused without a problem")
		}
		name, value, _ := strings.Cut(variable, "=")
		ours := isNative(name) || isWUD(name)
		if !ours && (len(c.Problems) > 0 || len(c.Components) > 0) {
			t.Errorf("%q is not ours and had an effect", name)
		}
		settled := len(c.Problems)+len(c.Components)+len(c.Auth)+len(c.sources) > 0
		ignored := isServiceLink(name, value) || strings.EqualFold(name, configVariable) || strings.EqualFold(name, "WUD_VERSION")
		if ours && value != "" && !ignored && !settled {
			t.Errorf("%q has no effect and nothing says so", variable)
		}
		for _, component := range c.Components {
			if !nameForm.MatchString(component.Name) || !typeForm.MatchString(component.Type) {
				t.Errorf("component %q", component.Key())
			}
		}
	})
}
