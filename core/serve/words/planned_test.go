package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/preset"
	"github.com/dogwatch/dogwatch/core/serve/language"
)

func TestPlanned(t *testing.T) {
	german := language.New().Named("de")
	for text, want := range map[string]string{
		"web has no health check, so it counts as working when it stays up": "web hat keinen Health-Check, " +
			"daher gilt er als funktionsfähig, sobald er stabil läuft",
		"web has written 5.3 MiB into itself (up to 1 MiB is ignored), which would be lost (/data): " +
			"move the data to a volume": "web hat 5.3 MiB in sich selbst geschrieben (bis 1 MiB zählt nicht), " +
			"die verloren gingen (/data): verschieben Sie die Daten in ein Volume",
		"/srv/compose.yaml:12: the service web names no image": "/srv/compose.yaml:12: der Dienst web nennt kein Image",
		"/srv/.env: the variable TAG has no value in /srv/.env: write it there": "/srv/.env: die Variable TAG hat keinen Wert " +
			"in /srv/.env: schreiben Sie ihn dort hinein",
		"media_web belongs to the application shop of Argo CD: change the image in its source; a pull request is opened by " +
			"gitea.homelab": "media_web gehört zur Anwendung shop von Argo CD: ändern Sie das Image in deren Quelle; " +
			"gitea.homelab öffnet einen Pull-Request",
		"media_web belongs to the release shop of Helm: change the image in apps/web/values.yaml of ana/homelab": "media_web " +
			"gehört zum Release shop von Helm: ändern Sie das Image in apps/web/values.yaml of ana/homelab",
		"/srv/compose.yaml: what a plugin says of it": "/srv/compose.yaml: what a plugin says of it",
		"a plugin's own words":                        "a plugin's own words",
	} {
		said := Planned(text)
		if got := german.Say(said); got != want || said.String() != text {
			t.Errorf("%q, want %q; %q in English", got, want, said)
		}
	}
	if Planned("") != nil {
		t.Error("a text of none")
	}
	if got := german.Say(Planned("no longer sets TZ")); got != "setzt TZ nicht mehr" {
		t.Errorf("an image %s", got)
	}
}

// TestAdviceIsTranslated: what a preset says stands in the head of a container, in plans that are stored, and in
// plans whose address was cut off.
func TestAdviceIsTranslated(t *testing.T) {
	all, err := preset.Read()
	if err != nil {
		t.Fatal(err)
	}
	german := language.New().Named("de")
	for _, p := range all {
		advice := german.Say(preset.Said(p.Advice()))
		if strings.Contains(advice, p.Needs) || !strings.HasSuffix(advice, " Siehe "+p.Page) {
			t.Errorf("%s: no German for %q: %q", p.Name, p.Advice(), advice)
		}
		if english := preset.Said(p.Advice()).String(); english != p.Advice() {
			t.Errorf("%s: %q became %q", p.Name, p.Advice(), english)
		}
		want := "web:2 ist ein Major-Update. " + german.Say(preset.Said(p.Needs)) + " Siehe"
		if got := german.Say(Planned("web:2 is a major update. " + p.Needs + " See")); got != want {
			t.Errorf("%s: the plan says %q, want %q", p.Name, got, want)
		}
		want = german.Say(preset.Said(p.Needs)) + " Siehe"
		if got := german.Say(MajorUpdate("web:2 is a major update. " + p.Needs + " See")); got != want {
			t.Errorf("%s: the page of the plan says %q, want %q", p.Name, got, want)
		}
	}
}

var anyVerb = regexp.MustCompile(`%(\.\d)?[a-z]`)

// TestReadTextsAreWritten keeps the formats from falling behind what others of Dogwatch write: each has a literal of
// theirs.
func TestReadTextsAreWritten(t *testing.T) {
	for name, folders := range map[string][]string{
		"planned.json": {
			"plugins/watchers/docker", "plugins/watchers/kubernetes", "plugins/watchers/nomad", "core/update/updater", "core/plugin",
			"internal/imagediff",
		},
		"mistakes.json": {
			"core/serve/service", "core/serve/auth", "core/update/updater", "core/decide/choice", "core/notify/signedlink",
			"core/plugin", "core/config", "core/notify/testrun", "sdk/option", "internal/contained", "plugins/triggers/smtp",
			"plugins/watchers/docker/internal/engine",
		},
		"remedies.json": {
			"core/serve/service", "core/plugin/agent", "plugins/watchers/docker/internal/engine",
		},
		"outcomes.json":    {"plugins/watchers/docker", "core/update"},
		"notes.json":       {"core/serve/service", "core/decide/notes"},
		"isolated.json":    {"core/plugin", "internal/sandbox"},
		"agentdoctor.json": {"core/plugin/agent"},
		"failures.json":    {"plugins/registries/internal/oci", "core/decide/tag", "core/watch", "core/config/label", "core/serve/words"},
		"uncompared.json":  {"core/watch", "core/decide"},
		"attempts.json":    {"core/serve", "core/update"},
	} {
		var written []string
		for _, folder := range folders {
			written = append(written, literals(t, "../../../"+folder)...)
		}
		for _, format := range formats(t, name) {
			if part := unwritten(format, written); part != "" {
				t.Errorf("nobody writes %q of %q, which %s reads", part, format, name)
			}
		}
	}
}

// unwritten returns the part of a format that is in none of the texts; "" where each is. Some texts are made of the
// texts of two functions: "updating is not allowed, since " and the reason.
func unwritten(format string, written []string) string {
	for _, part := range regexp.MustCompile(`%s|: |, (since )?| at `).Split(format, -1) {
		part = strings.Trim(part, " :,.()")
		if !slices.ContainsFunc(written, func(text string) bool { return strings.Contains(text, part) }) {
			return part
		}
	}
	return ""
}

// literals returns the texts in the sources of a folder; those that are joined as one.
func literals(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncDecl, *ast.GenDecl:
				all = append(all, literalsIn(n))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// literalsIn returns the texts in a piece of source, one behind the other, with %s for what is filled in.
func literalsIn(n ast.Node) string {
	var b strings.Builder
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value) // it was parsed
			b.WriteString(anyVerb.ReplaceAllString(text, "%s"))
		}
		return true
	})
	return b.String()
}

// formats returns the texts that a language reads by a file of its own.
func formats(t *testing.T, name string) []string {
	t.Helper()
	keys, err := language.New().Named("de").Keys()
	if err != nil || len(keys["german/"+name]) < 5 {
		t.Fatal(name, len(keys["german/"+name]), err)
	}
	return keys["german/"+name]
}
