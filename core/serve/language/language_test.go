package language

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/language"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/visible"
)

func TestOf(t *testing.T) {
	languages := New()
	for _, tt := range []struct{ header, cookie, want string }{
		{"", "", "en"}, {"de", "", "de"}, {"de-AT,en;q=0.5", "", "de"}, {"fr,de;q=0.5", "", "de"}, {"fr", "", "en"},
		{"en-GB,de;q=0.9", "", "en"}, {"not a language", "", "en"}, {"de", "en", "en"}, {"en", "de", "de"}, {"de", "xx", "de"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Language", tt.header)
		r.Header.Set("Cookie", Cookie+"="+tt.cookie)
		if got := languages.Of(r).Tag; got != tt.want {
			t.Errorf("header %q, cookie %q: %s, want %s", tt.header, tt.cookie, got, tt.want)
		}
	}
}

func TestSay(t *testing.T) {
	german, english := New().Named("de"), New().Named("en")
	for _, tt := range []struct {
		phrase        phrase.Phrase
		german, plain string
	}{
		{nil, "", ""},
		{phrase.New("Log in"), "Anmelden", "Log in"},
		{phrase.New("no text of ours: %s", phrase.New("Log in")), "no text of ours: Anmelden", "no text of ours: Log in"},
		{phrase.Verbatim("Log in"), "Log in", "Log in"},
		{phrase.Join(" · ", phrase.New("Log in"), nil, phrase.Verbatim("x")), "Anmelden · x", "Log in · x"},
		{phrase.Sentence(phrase.Capital(phrase.New("or"))), "Oder.", "Or."},
		{phrase.Stored("planned", "web runs no containers"), "web betreibt keine Container", "web runs no containers"},
		{phrase.Stored("planned", "Log in"), "Log in", "Log in"}, // a text of another kind
		{phrase.Stored("planned", ""), "", ""},
		{phrase.New("%.1f MB", 45.5), "45,5\u00a0MB", "45.5\u00a0MB"},
		{phrase.Verbatim("2 min 3 s, 3 sets, v1 x"), "2\u00a0min 3\u00a0s, 3 sets, v1 x", "2\u00a0min 3\u00a0s, 3 sets, v1 x"},
	} {
		if got := german.Say(tt.phrase); got != tt.german {
			t.Errorf("German %q, want %q", got, tt.german)
		}
		if got := english.Say(tt.phrase); got != tt.plain {
			t.Errorf("English %q, want %q", got, tt.plain)
		}
	}
}

// TestFormatsBeginWithTheMostSpecific, as a text is read by the first that it has.
func TestFormatsBeginWithTheMostSpecific(t *testing.T) {
	c, err := load(language.German, fstest.MapFS{"german/kind.json": {Data: []byte(
		`{"%s of %s": "%s von %s", "a %s": "ein %s", "%s of %s of b": "%s von %s von b", "%s and %s": "%s und %s"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Formats("kind"); !slices.Equal(got, []string{"%s of %s of b", "%s and %s", "%s of %s", "a %s"}) {
		t.Errorf("%q", got)
	}
}

// TestHTML: words of others are marked, wherever they stand, and cannot leave an element open.
func TestHTML(t *testing.T) {
	german, english := New().Named("de"), New().Named("en")
	failed := phrase.New("check failed: %s", phrase.Quote("no <route>"))
	for _, tt := range []struct {
		phrase  phrase.Phrase
		marked  string
		english string
	}{
		{nil, "", ""},
		{failed, `Prüfung fehlgeschlagen: <span lang="en">no &lt;route&gt;</span>`, "check failed: no &lt;route&gt;"},
		{phrase.Sentence(failed), `Prüfung fehlgeschlagen: <span lang="en">no &lt;route&gt;</span>.`, "check failed: no &lt;route&gt;."},
		{phrase.Sentence(phrase.Join(" ", phrase.New("or"), phrase.Quote("a."))), `oder <span lang="en">a.</span>`, "or a."},
		{phrase.Change(failed, visible.Text), `Prüfung fehlgeschlagen: <span lang="en">no &lt;route&gt;</span>`, "check failed: no &lt;route&gt;"},
		{phrase.Capital(phrase.Quote("refused")), `<span lang="en">Refused</span>`, "Refused"},
		{phrase.Capital(phrase.Stored("planned", "refused")), `<span lang="en">Refused</span>`, "Refused"},
		{phrase.New("check failed: %s", phrase.Quote("")), "Prüfung fehlgeschlagen: ", "check failed: "},
		{phrase.Verbatim("a\ufdd1b\ufdd0<c>"), `a` + "\ufdd1" + `b<span lang="en">&lt;c&gt;</span>`, "a\ufdd1b\ufdd0&lt;c&gt;"},
	} {
		if got := string(german.HTML(tt.phrase)); got != tt.marked {
			t.Errorf("German %q, want %q", got, tt.marked)
		}
		if got := string(english.HTML(tt.phrase)); got != tt.english {
			t.Errorf("English %q, want %q", got, tt.english)
		}
		if said := german.Say(tt.phrase); strings.Contains(said, "<span") {
			t.Errorf("an attribute would say %q", said)
		}
	}
}

var verbs = regexp.MustCompile(`%(\[\d\])?[a-z]`)

// TestTranslationsFillInTheSame keeps a translation from losing or inventing what is filled in, and from standing
// twice with different texts.
func TestTranslationsFillInTheSame(t *testing.T) {
	areas, err := read(german)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for name, area := range areas {
		for english, translated := range area {
			text := translated.text + translated.forms["other"]
			if text == "" {
				t.Errorf("%s: %q has no text", name, english)
			}
			if before, twice := first[english]; twice && before != text {
				t.Errorf("%s: %q is both %q and %q", name, english, before, text)
			}
			first[english] = text
			if n := len(verbs.FindAllString(english, -1)); n != len(verbs.FindAllString(text, -1)) {
				t.Errorf("%s: %q fills in %d things, and %q not", name, english, n, text)
			}
		}
	}
}

// TestCataloguesAreRead: one text that cannot be used, such as one with ${, leaves all pages in English.
func TestCataloguesAreRead(t *testing.T) {
	for _, l := range New().All() {
		if l.Translates() {
			if _, err := l.load(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestEveryPhraseIsTranslated looks for phrases in the sources.
func TestEveryPhraseIsTranslated(t *testing.T) {
	areas, err := read(german)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]translation{}
	for _, area := range areas {
		maps.Copy(known, area)
	}
	for english, where := range phrases(t) {
		if _, has := known[english]; !has {
			t.Errorf("%s: %q has no German translation", where, english)
		}
	}
}

// readByFormat are the files of texts that are put together elsewhere: by plugins, in errors, from parts.
var readByFormat = []string{"agentdoctor", "attempts", "descriptions", "failures", "isolated", "labels", "mistakes", "notes",
	"outcomes",
	"planned", "presets", "skipped", "uncompared"}

// TestEveryTranslationIsUsed looks for the English texts in the sources and templates.
func TestEveryTranslationIsUsed(t *testing.T) {
	areas, err := read(german)
	if err != nil {
		t.Fatal(err)
	}
	formats := regexp.MustCompile(`%[.\d]*[a-z]`)
	plain := func(text string) string {
		return strings.ToLower(formats.ReplaceAllString(strings.Join(strings.Fields(text), " "), "%s"))
	}
	var sources strings.Builder
	err = fs.WalkDir(os.DirFS("../../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".go", ".html", ".js"}, filepath.Ext(path)) ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile("../../../" + path)
		sources.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.NewReplacer(`" + "`, "", `"+ "`, "", `\"`, `"`).Replace(plain(sources.String()))
	for name, area := range areas {
		if slices.Contains(readByFormat, strings.TrimSuffix(path.Base(name), ".json")) {
			continue
		}
		for english := range area {
			if !strings.Contains(all, plain(strings.TrimPrefix(english, "%d "))) {
				t.Errorf("%s: %q is nowhere", name, english)
			}
		}
	}
}

// phrases returns the English texts of phrases and nouns in core, with where they are made.
func phrases(t *testing.T) map[string]string {
	t.Helper()
	said := map[string]string{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			function, is := call.Fun.(*ast.SelectorExpr)
			if !is {
				return true
			}
			if of, is := function.X.(*ast.Ident); !is || of.Name != "phrase" {
				return true
			}
			prefix, args := "", call.Args[:1]
			switch function.Sel.Name {
			case "Count":
				prefix, args = "%d ", call.Args[1:]
			case "New", "Time":
			case "Read":
				args = call.Args[1:]
			default:
				return true
			}
			for _, arg := range args {
				if literal, is := arg.(*ast.BasicLit); is {
					english, _ := strconv.Unquote(literal.Value) // it was parsed
					said[prefix+english] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}
