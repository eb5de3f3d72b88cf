package migrate

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

var update = flag.Bool("update", false, "rewrite golden files")

// schemas are those of a few types, so that the tests know what is an option.
func schemas(t testing.TB) func(k kind.Kind, typ string) (option.Schema, bool) {
	t.Helper()
	known := map[string]option.Schema{}
	for key, names := range map[string]string{
		"watcher.docker":   "socket host port:int cron jitter:duration watchbydefault:bool watchall:bool watchatstart:bool",
		"registry.hub":     "login password token auth",
		"registry.ghcr":    "username token",
		"registry.custom":  "url:url login password tls.insecure:bool",
		"trigger.smtp":     "host port:int user pass from to auto:bool threshold simpletitle tls.enabled:bool tls.verify:bool includebydefault:bool",
		"trigger.gotify":   "url:url token priority:int timeout:duration tls.insecure:bool",
		"trigger.ntfy":     "url:url topic priority:int tags:list auth.token",
		"trigger.telegram": "bottoken chatid",
		"trigger.slack":    "url:url token channel",
		"trigger.mqtt":     "url:url user password clientid topic",
		"trigger.command":  "cmd",
		"trigger.docker":   "prune:bool auto:bool includebydefault:bool",
		"trigger.http":     "url:url method",
		"trigger.shoutrrr": "urls:list",
		"trigger.mock":     "mock",
	} {
		var s option.Schema
		for _, field := range strings.Fields(names) {
			name, typ, given := strings.Cut(field, ":")
			if !given {
				typ = string(option.String)
			}
			s = append(s, option.Option{Name: name, Type: option.Type(typ)})
		}
		known[key] = s
	}
	return func(k kind.Kind, typ string) (option.Schema, bool) {
		s, found := known[string(k)+"."+typ]
		return s, found
	}
}

func rewriter(t testing.TB) Rewriter {
	return Rewriter{WatcherTypes: []string{"docker"}, Schema: schemas(t)}
}

// TestMigrateFiles rewrites the first file of each archive and compares the diff and
// the findings with the others.
func TestMigrateFiles(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 5 {
		t.Fatal("too few archives", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before := archive.Files[0]
			r := rewriter(t)
			r.Keep = map[string]bool{"WUD_PUBLIC_URL": true}
			var diff, report string
			result, err := r.File(before.Name, before.Data)
			if err != nil {
				report = "error: " + err.Error() + "\n"
			} else {
				diff = result.Diff(before.Data)
				for _, f := range result.Findings {
					report += f.String() + "\n"
				}
				again, err := r.File(result.Name, result.Text)
				if !result.New && (err != nil || !bytes.Equal(again.Text, result.Text)) {
					t.Errorf("rewritten twice it differs: %v\n%s", err, again.Text)
				}
			}
			got := txtar.Format(&txtar.Archive{
				Comment: archive.Comment,
				Files:   []txtar.File{before, {Name: "diff", Data: []byte(diff)}, {Name: "report", Data: []byte(report)}},
			})
			if *update {
				if err := writeFile(path, got); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, txtar.Format(archive)) {
				t.Errorf("%s differs:\n%s", path, got)
			}
		})
	}
}

// TestMigrateRefusesUnknownFiles: what cannot be rewritten is refused with the reason.
func TestMigrateRefusesUnknownFiles(t *testing.T) {
	for name, data := range map[string]string{
		"empty.yaml": "", "list.yaml": "- a\n", "other.yaml": "a: b\n", "two.yaml": "services: {}\n---\nservices: {}\n",
		"tab.yaml": "services:\n\ta: b\n", "binary": "A=\x00\n", "latin1.yaml": "services: {a: {image: \"\xe9\"}}\n",
		"prose.txt": "Hello there.\n", "none.env": "# nothing\n",
		"big.env": "A=" + strings.Repeat("x", maxSize), "alias.yaml": "services: *x\n",
	} {
		if result, err := rewriter(t).File(name, []byte(data)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v, %q", name, err, result.Text)
		}
	}
}

func TestMigrateVariableReferences(t *testing.T) {
	got := strings.Join(References([]byte("a: $WUD_A ${WUD_B:-x} $$WUD_C $${WUD_D} ${wud_e} $ ${} $1 ${WUD_B}")), " ")
	if got != "1 WUD_A WUD_B WUD_E" {
		t.Error(got)
	}
}

func TestImageOf(t *testing.T) {
	for image, want := range map[string]string{
		"getwud/wud": "wud", "ghcr.io/getwud/wud:8.2.2": "wud", "docker.io/fmartinou/whats-up-docker:6@sha256:abc": "wud",
		"containrrr/watchtower:latest": "watchtower", "ghcr.io/nicholas-fedor/watchtower": "watchtower",
		"crazymax/diun:4": "diun", "ghcr.io/codeswhat/drydock:1.6": "drydock",
		"nginx": "", "localhost:5000/wud": "", "": "", "me/watchtower": "",
	} {
		if got := imageOf(image); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

func TestInterval(t *testing.T) {
	for seconds, want := range map[string]string{
		"30": "@every 30s", "90": "@every 90s", "300": "@every 5m", "86400": "@every 24h", "5400": "@every 90m",
		"x": "", "0": "", "-1": "", "99999999999999": "",
	} {
		if got := interval(seconds).value; got != want {
			t.Errorf("%s: %q, want %q", seconds, got, want)
		}
	}
}

func TestEnviron(t *testing.T) {
	environ := []string{"PATH=/bin", "WUD_LOG_LEVEL=debug", "WATCHTOWER_POLL_INTERVAL=3600", "WATCHTOWER_CLEANUP=true",
		"DD_API_KEY=x", "REPO_USER=ana", "LOG_LEVEL=x", "DOGWATCH_SERVER_PORT=1"}
	got, findings := rewriter(t).Environ(environ)
	want := "PATH=/bin WUD_LOG_LEVEL=debug DOGWATCH_WATCHER_LOCAL_CRON=@every 1h DD_API_KEY=x " +
		"DOGWATCH_REGISTRY_HUB_PRIVATE_LOGIN=ana LOG_LEVEL=x DOGWATCH_SERVER_PORT=1"
	if strings.Join(got, " ") != want || len(findings) != 3 {
		t.Errorf("%q\n%v", got, findings)
	}
}

// TestDiff: the lines of hunks add up, and distant changes are hunks of their own.
func TestDiff(t *testing.T) {
	var before, after strings.Builder
	for i := range 40 {
		line := strings.Repeat("x", i%7) + "\n"
		before.WriteString(line)
		if i == 0 || i == 1 || i == 8 || i == 16 || i == 39 {
			line = "new" + line
		}
		after.WriteString(line)
	}
	diff := Result{Name: "f", Text: []byte(after.String())}.Diff([]byte(before.String()))
	var heads []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	if got, want := strings.Join(heads, " "), "@@ -1,12 +1,12 @@ @@ -14,7 +14,7 @@ @@ -37,4 +37,4 @@"; got != want {
		t.Errorf("%s, want %s\n%s", got, want, diff)
	}
	if r := (Result{Name: "f", Text: []byte("a")}); r.Diff([]byte("a")) != "" {
		t.Error("a diff of nothing")
	}
}

// FuzzFile: a file is refused, or every byte beside the edited names stays, and
// what was rewritten is not rewritten again.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"services:\n  a:\n    environment:\n      - WUD_LOG_LEVEL=debug\n    labels: {wud.watch: \"true\"}\n",
		"services: {a: {environment: {WUD_LOG_LEVEL: , 'WATCHTOWER_POLL_INTERVAL': 60}}}",
		"x: &x {WUD_LOG_LEVEL: info}\nservices: {a: {environment: *x}, b: {environment: {<<: *x, WUD_LOG_FORMAT: !!str json}}}\n",
		"services:\r\n  a:\r\n    labels:\r\n      - \"diun.include_tags=a;b\"\r\n      - 'wud.watch=it''s'\r\n",
		"WUD_LOG_LEVEL=debug # x\nexport WUD_LOG_FORMAT='json'\nA=\"b\nWUD_X=1\"\n",
		"\ufeffservices: {a: {labels: [wud.watch=1]}}",
		"providers: {docker: {watchStopped: true}}\nnotif: {gotify: {endpoint: http://x, token: y}}\n",
	} {
		f.Add(strings.HasPrefix(seed, "WUD"), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, env bool, data []byte) {
		name := "compose.yaml"
		if env {
			name = ".env"
		}
		r := rewriter(t)
		result, err := r.File(name, data)
		if err != nil {
			if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnsafe) {
				t.Error(err)
			}
			return
		}
		result.Diff(data)
		rewritten, _, _ := result.Count()
		switch {
		case result.New:
		case rewritten == 0 && !bytes.Equal(result.Text, data):
			t.Errorf("changed without a finding: %q", result.Text)
		case bytes.Count(result.Text, []byte("\n")) != bytes.Count(data, []byte("\n")):
			t.Errorf("lines came or went: %q", result.Text)
		default:
			again, err := r.File(name, result.Text)
			if err != nil || !bytes.Equal(again.Text, result.Text) {
				t.Errorf("rewritten twice it differs (%v):\n%q\n%q\n%q", err, data, result.Text, again.Text)
			}
		}
	})
}

func writeFile(name string, data []byte) error { return os.WriteFile(name, data, 0o644) }

// TestDrydockRulesOfWatchers: the days of Drydock count where the mode is mature.
func TestDrydockRulesOfWatchers(t *testing.T) {
	const mode, days = "DD_WATCHER_NAS_MATURITY_MODE=", "DD_WATCHER_NAS_MATURITY_MIN_AGE_DAYS="
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{[]string{mode + "mature", days + "14"}, "DOGWATCH_POLICY_MINAGE=14d"},
		{[]string{mode + "mature"}, "DOGWATCH_POLICY_MINAGE=7d"},
		{[]string{mode + "all", days + "14"}, ""},
		{[]string{mode + "old"}, ""},
		{[]string{days + "x"}, ""},
		{[]string{"DD_WATCHER_NAS_MAINTENANCE_WINDOW_TZ=UTC", "DD_WATCHER_NAS_MAINTENANCE_WINDOW=0 2 * * 6"},
			"DOGWATCH_POLICY_ZONE=UTC DOGWATCH_POLICY_WINDOW=0 2 * * 6"},
	} {
		environ, findings := rewriter(t).Environ(c.environ)
		if got := strings.Join(environ, " "); got != c.want {
			t.Errorf("%v: %q, %+v", c.environ, got, findings)
		}
		for _, f := range findings {
			if f.To == "" && f.Note == "" {
				t.Errorf("%s is left without a word", f.Name)
			}
		}
	}
}
