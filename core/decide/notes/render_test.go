package notes

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
)

// hostile returns Markdown that tries to run script, to load something, or to look like the page.
// A browser is shown the same by the tests of the program.
func hostile(t testing.TB) (texts []string) {
	t.Helper()
	file, err := os.ReadFile("testdata/hostile.json")
	if err == nil {
		err = json.Unmarshal(file, &texts)
	}
	if err != nil || len(texts) == 0 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	return texts
}

// unsafe returns what of rendered notes is not allowed.
func unsafe(t *testing.T, rendered string) (found []string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(rendered))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return found
		}
		if kind == html.TextToken || kind == html.EndTagToken {
			continue
		}
		token := z.Token()
		if !strings.Contains(" p br hr h3 h4 h5 h6 ul ol li blockquote pre code em strong del table thead tbody tr th td a ", " "+token.Data+" ") || kind == html.CommentToken || kind == html.DoctypeToken {
			found = append(found, token.String())
		}
		for _, a := range token.Attr {
			switch {
			case a.Key == "href" && (strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://")):
			case a.Key == "rel" && strings.Contains(a.Val, "noopener") && strings.Contains(a.Val, "noreferrer") &&
				strings.Contains(a.Val, "nofollow"):
			case a.Key == "target" && a.Val == "_blank":
			default:
				found = append(found, token.String())
			}
		}
	}
}

// sanitiser returns the policy of an independent library for what notes may have.
func sanitiser() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em",
		"strong", "del", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// parsed returns the tokens of HTML in one form, whatever their spelling: entities
// are resolved, and void elements are not closed.
func parsed(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String()
		}
		token := z.Token()
		if kind == html.TextToken {
			b.WriteString(token.Data)
			continue
		}
		if kind == html.SelfClosingTagToken {
			token.Type = html.StartTagToken
		}
		b.WriteString("\x00" + token.String() + "\x00")
	}
}

// checkHTML reports what of rendered Markdown is not allowed, to its own list and to the sanitiser.
func checkHTML(t *testing.T, p *bluemonday.Policy, markdown, rendered string) {
	t.Helper()
	if found := unsafe(t, rendered); found != nil {
		t.Errorf("%.200q makes %q", markdown, found)
	}
	if got, want := parsed(t, rendered), parsed(t, p.Sanitize(rendered)); got != want {
		t.Errorf("%.200q is rendered as\n%q, of which the sanitiser leaves\n%q", markdown, got, want)
	}
}

func TestHostileMarkdown(t *testing.T) {
	r, p := NewRenderer(), sanitiser()
	for _, text := range hostile(t) {
		checkHTML(t, p, text, r.HTML(text))
	}
}

func FuzzHTML(f *testing.F) {
	for _, text := range hostile(f) {
		f.Add(text)
	}
	r, p := NewRenderer(), sanitiser()
	f.Fuzz(func(t *testing.T, text string) { checkHTML(t, p, text, r.HTML(text)) })
}

func TestHTML(t *testing.T) {
	r, p := NewRenderer(), sanitiser()
	got := r.HTML("# New\n\n- **fast** `x`\n- see https://a.example/1\n\n| a | b |\n|--|--|\n| 1 | 2 |")
	for _, want := range []string{"<h3>New</h3>", "<strong>fast</strong>", "<code>x</code>",
		`href="https://a.example/1"`, `rel="nofollow noreferrer noopener"`, "<td>1</td>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	// Deep nesting stays bounded: a note is 16 KB at most.
	for _, text := range []string{strings.Repeat("> ", maxBody/2), strings.Repeat("[", maxBody),
		strings.Repeat("*a_", maxBody/3), strings.Repeat("- ", maxBody/2)} {
		checkHTML(t, p, text, r.HTML(text))
	}
}

// TestHeadings: they begin below that of the page and skip no level.
func TestHeadings(t *testing.T) {
	for markdown, want := range map[string]string{
		"# a\n## b\n### c\n## d": "3 4 5 4", "## a\n### b\n## c": "3 4 3", "#### a\n#### b": "3 3",
		"### a\n# b\n### c\n###### d":                           "3 3 4 5",
		"###### a\n# b\n## c\n### d\n#### e\n##### f\n###### g": "3 3 4 5 6 6 6", "- # a\n- ## b": "3 4", "none": "",
	} {
		var levels []string
		z := html.NewTokenizer(strings.NewReader(NewRenderer().HTML(markdown)))
		for z.Next() != html.ErrorToken {
			if token := z.Token(); token.Type == html.StartTagToken && strings.HasPrefix(token.Data, "h") {
				levels = append(levels, token.Data[1:])
			}
		}
		if got := strings.Join(levels, " "); got != want {
			t.Errorf("%q has the levels %q, want %q", markdown, got, want)
		}
	}
}
