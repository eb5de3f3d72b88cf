package core_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// A word is a private term of this code, and the field's word for it.
type word struct {
	name   string // pattern of one part of an identifier or of a file's name
	prose  string // pattern in comments, log messages and documents; "" for a plain word of English
	below  string // the only directory in which it is a private term; "" for everywhere
	write  string // what to write instead
	sample string // what the patterns find
}

// words is the left column of the table of words. Prose is stricter about
// nouns than about verbs: "asks for a pause" is English, while a method named
// Ask hides what a search for "fetch" looks for.
var words = []word{
	{name: `told`, prose: `told`, write: "notified, AlreadyNotified", sample: "WasTold"},
	{name: `ow(e|es|ed|ing)`, prose: `ow(e|es|ed|ing)`, write: "pending, newDelivery", sample: "oweDelivery"},
	{name: `news`, prose: `news`, write: "backlog, pending deliveries, updates", sample: "newsFile"},
	{name: `tells?|telling|teller`, write: "log, emit, render or notify, whichever it does", sample: "tellAll"},
	{name: `lend|lends|lent|lender|lending`, prose: `lend|lends|lent|lender|lending`, write: "attach grants, grants", sample: "Lender"},
	{name: `asks?|asked|asking`, write: "fetch, request, do, lookup", sample: "askRegistry"},
	{name: `hear|hears|heard|ears?`, prose: `hear|hears|heard|ears?`, write: "notify, subscription, receive", sample: "hears"},
	{name: `mourns?|deaths?|died|dies|dead`, prose: `mourns?|deaths?|died|dies`, write: "exit, handleExit, Exited, unreachable", sample: "onDeath"},
	{name: `rests|resting|giveback`, prose: `rests|resting|gives? back memory`, write: "idle, release memory, maxIdle", sample: "resting"},
	{name: `sorry`, prose: `sorry`, write: "error page, renderError", sample: "sorry"},
	{name: `patience|patient`, prose: `patience|patient`, write: "failure budget, maximum wait, timeout", sample: "patience"},
	{name: `visits?|visited|visiting|visitor`, prose: `visits?`, write: "request attempt, page view", sample: "visit"},
	{name: `together`, write: "token scope hints (ScopeHints)", sample: "Together"},
	{name: `deciding|turns`, write: "commit lock, semaphore", sample: "deciding"},
	{name: `worlds?|followers?`, prose: `worlds?|followers?`, write: "state stream, subscriber, run result", sample: "World"},
	{name: `trials?`, prose: `trials?`, write: "test run, preview", sample: "trialRunner"},
	{name: `faces?`, prose: `faces?`, write: "the application service, or the interface's own name", sample: "face"},
	{name: `adopts?|adopted|adoption|adopting`, prose: `adopts?|adopted|adoption|adopting`, write: "import", sample: "Adopted"},
	{name: `looked`, write: "page view", sample: "lastLooked"},
	{
		name: `somebody|nobody|anybody|everybody|someone|whoever|people`, prose: `somebody|nobody|anybody|everybody|someone|whoever|people`,
		write: "client, caller, user, operator, reader", sample: "forNobody",
	},
	{name: `answers?|answered|answering`, write: "response, result", sample: "answer"},
	{name: `subjects?`, below: "core/check", write: "target", sample: "subject"},
}

// An exception is where a word of the table is right.
type exception struct {
	text   string // pattern of the whole identifier, file name or phrase
	below  string // the directory; "" for everywhere
	reason string
}

var exceptions = []exception{
	{`told`, "core/store", "the SQL table told has its name in stored data"},
	{`world-readable|world readable`, "", "the word of file permissions"},
	{`trigger\.(Follower|World)`, "sdk/doc.go", "names of SDK 1.0.0, for authors who search for them"},
	{`plugintest\.Answering|simple/trial`, "sdk/doc.go", "names of SDK 1.0.0, for authors who search for them"},
	{`Test\w*Together\w*`, "", "an adverb in the name of a behaviour"},
}

// developerDocs are the documents for readers of the code. Other documents are
// texts for users.
var developerDocs = regexp.MustCompile(`^(docs/plugins\.md|docs/performance\.md|examples/.*\.md)$`)

// logCall are the names of the methods that take a log message first.
var logCall = regexp.MustCompile(`^(Debug|Info|Warn|Error)(Context)?$`)

// vocabulary is words, compiled.
type vocabulary struct {
	names, prose []*regexp.Regexp
	exceptions   []*regexp.Regexp
	// any finds what one of prose finds, and none holds parts of names that none of names matches.
	any  *regexp.Regexp
	none map[string]bool
}

func newVocabulary() vocabulary {
	v := vocabulary{none: map[string]bool{}}
	var all []string
	for _, w := range words {
		v.names = append(v.names, regexp.MustCompile(`^(`+w.name+`)$`))
		prose := w.prose
		if prose == "" {
			prose = `$^` // matches in no text that has a word
		}
		all = append(all, prose)
		v.prose = append(v.prose, regexp.MustCompile(`(?i)\b(`+prose+`)\b`))
	}
	v.any = regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
	for _, e := range exceptions {
		v.exceptions = append(v.exceptions, regexp.MustCompile(`(?i)\b(`+e.text+`)\b`))
	}
	return v
}

// name returns what is wrong with an identifier or a file's name, or "".
func (v vocabulary) name(file, identifier string) string {
	for _, part := range parts(identifier) {
		if v.none[part] {
			continue
		}
		matches := false
		for i, w := range words {
			if !v.names[i].MatchString(part) {
				continue
			}
			if matches = true; in(file, w.below) && !v.excepted(file, identifier) {
				return fmt.Sprintf("%s: write %s", identifier, w.write)
			}
		}
		v.none[part] = !matches
	}
	return ""
}

// text returns what is wrong with a sentence, or "".
func (v vocabulary) text(file, sentence string) string {
	if !v.any.MatchString(sentence) {
		return ""
	}
	for i, e := range v.exceptions {
		if in(file, exceptions[i].below) {
			sentence = e.ReplaceAllString(sentence, "")
		}
	}
	for i, w := range words {
		if found := v.prose[i].FindString(sentence); found != "" && in(file, w.below) {
			return fmt.Sprintf("%q: write %s", found, w.write)
		}
	}
	return ""
}

func (v vocabulary) excepted(file, identifier string) bool {
	for i, e := range v.exceptions {
		if in(file, exceptions[i].below) && e.FindString(identifier) == identifier {
			return true
		}
	}
	return false
}

// in reports whether a file is below a directory. Every file is below "".
func in(file, directory string) bool {
	return directory == "" || file == directory || strings.HasPrefix(file, directory+"/")
}

// parts splits an identifier or a file's name into its words, in lower case:
// "renderHTMLPage_test" into render, html, page, test.
func parts(identifier string) []string {
	var all []string
	runes, start := []rune(identifier), 0
	end := func(i int) {
		if i > start {
			all = append(all, strings.ToLower(string(runes[start:i])))
		}
		start = i
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
	}
	end(len(runes))
	return all
}

// declared returns the identifiers that a node declares. Uses are left out: the
// names of other modules are not ours to choose.
func declared(node ast.Node) []*ast.Ident {
	var all []*ast.Ident
	add := func(expressions ...ast.Expr) {
		for _, e := range expressions {
			if name, ok := e.(*ast.Ident); ok {
				all = append(all, name)
			}
		}
	}
	switch n := node.(type) {
	case *ast.File:
		all = append(all, n.Name)
	case *ast.FuncDecl:
		all = append(all, n.Name)
	case *ast.TypeSpec:
		all = append(all, n.Name)
	case *ast.ImportSpec:
		if n.Name != nil {
			all = append(all, n.Name)
		}
	case *ast.ValueSpec:
		all = append(all, n.Names...)
	case *ast.Field:
		all = append(all, n.Names...)
	case *ast.LabeledStmt:
		all = append(all, n.Label)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			add(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			add(n.Key, n.Value)
		}
	}
	return all
}

// logMessage returns the constant message of a call that writes to the log.
func logMessage(node ast.Node) string {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return ""
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !logCall.MatchString(method.Sel.Name) {
		return ""
	}
	for _, argument := range call.Args {
		if text, ok := argument.(*ast.BasicLit); ok && text.Kind == token.STRING {
			message, _ := strconv.Unquote(text.Value)
			return message
		}
	}
	return ""
}

// TestWordsAreTheFieldsWords holds the identifiers, comments, log messages,
// file names, test scripts and developers' documents of all packages against words.
func TestWordsAreTheFieldsWords(t *testing.T) {
	v := newVocabulary()
	report := func(file string, line int, wrong string) {
		if wrong != "" {
			t.Errorf("%s:%d: %s", file, line, wrong)
		}
	}
	for _, file := range sources(t, ".go", ".md", ".txtar") {
		report(file, 1, v.name(file, file))
		switch {
		case filepath.Ext(file) == ".go" && file != "core/words_test.go":
			goWords(t, v, file, report)
		case filepath.Ext(file) == ".txtar":
			script, _, _ := strings.Cut(readSource(t, file), "\n-- ")
			for i, line := range strings.Split(script, "\n") {
				if strings.HasPrefix(line, "#") {
					report(file, i+1, v.text(file, line))
				}
			}
		case developerDocs.MatchString(file):
			for i, line := range strings.Split(readSource(t, file), "\n") {
				report(file, i+1, v.text(file, line))
			}
		}
	}
}

// goWords reports the private terms of one Go file.
func goWords(t *testing.T, v vocabulary, file string, report func(file string, line int, wrong string)) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, readSource(t, file), parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range parsed.Comments {
		for _, comment := range group.List {
			at := files.Position(comment.Pos()).Line
			for i, line := range strings.Split(comment.Text, "\n") {
				report(file, at+i, v.text(file, line))
			}
		}
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		for _, identifier := range declared(node) {
			report(file, files.Position(identifier.Pos()).Line, v.name(file, identifier.Name))
		}
		if message := logMessage(node); message != "" {
			report(file, files.Position(node.Pos()).Line, v.text(file, message))
		}
		return true
	})
}

// TestWordsFindTheirSamples fails when a pattern of words matches nothing.
func TestWordsFindTheirSamples(t *testing.T) {
	v := newVocabulary()
	for _, w := range words {
		if wrong := v.name(filepath.Join(w.below, "a.go"), w.sample); !strings.HasSuffix(wrong, w.write) {
			t.Errorf("%s: got %q, want the advice to write %s", w.sample, wrong, w.write)
		}
	}
	for _, right := range []string{"renderHTMLPage", "interfaces", "deadline", "restart", "overtold", "basket"} {
		if wrong := v.name("core/a.go", right); wrong != "" {
			t.Error(wrong)
		}
	}
	if wrong := v.text("core/a.go", "The file is world-readable, and Nobody reads it."); !strings.Contains(wrong, "Nobody") {
		t.Errorf("got %q, want Nobody found", wrong)
	}
}

// root is the root of the repository, seen from this package.
const root = ".."

// sources returns the files of the repository with one of the extensions, by
// their slash-separated path from its root. Generated code and test data of
// other projects are left out, and what npm installs.
func sources(t *testing.T, extensions ...string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		if entry.IsDir() {
			if name := entry.Name(); name == "axe" || name == "corpus" || name == "node_modules" || len(name) > 2 && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		for _, extension := range extensions {
			if strings.HasSuffix(file, extension) && !strings.HasSuffix(file, ".pb.go") {
				all = append(all, file)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readSource(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
