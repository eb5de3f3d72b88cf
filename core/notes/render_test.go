package notes

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// hostile is Markdown that tries to run script, to load something, or to look like the page.
var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](https://tracker.example/p.gif)", "![x](javascript:alert(1))",
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](&#106;avascript:alert(1))", "[x](javascript&colon;alert(1))", "[x](vbscript:x)",
	"[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](//evil.example)", "[x](/containers/act)", "[x](file:///etc/passwd)", "<javascript:alert(1)>",
	"[x]: javascript:alert(1)\n\n[x]", "[x](https://a.example \"\\\" onmouseover=alert(1)\")", "[x](https://a.example/\"onclick=alert(1))", "`<script>`", "```\"><script>alert(1)</script>\nx\n```",
	"<svg/onload=alert(1)>", "<style>*{display:none}</style>", "<iframe src=https://a.example></iframe>", "<form action=/x><input name=y></form>", "<a href=javascript:alert(1)>x</a>",
	"<div hx-get=/containers/act hx-trigger=load>", "# x {onclick=alert(1) .class #id}", "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">", "<!--><script>alert(1)</script>-->", "<![CDATA[<script>alert(1)</script>]]>",
	"| a |\n|--|\n| <script>alert(1)</script> |", "<details open ontoggle=alert(1)>", "<base href=https://evil.example>", "<meta http-equiv=refresh content=0>", "&lt;script&gt;alert(1)&lt;/script&gt;",
	"<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">", "\x00<scr\x00ipt>", "<object data=x>", "<button formaction=javascript:alert(1)>x", "https://a.example/?<script>alert(1)</script>",
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
		if !strings.Contains(" p br hr h4 h5 h6 ul ol li blockquote pre code em strong del table thead tbody tr th td a ", " "+token.Data+" ") || kind == html.CommentToken || kind == html.DoctypeToken {
			found = append(found, token.String())
		}
		for _, a := range token.Attr {
			switch {
			case a.Key == "href" && (strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://")):
			case a.Key == "rel" && strings.Contains(a.Val, "noopener") && strings.Contains(a.Val, "noreferrer") && strings.Contains(a.Val, "nofollow"):
			case a.Key == "target" && a.Val == "_blank":
			default:
				found = append(found, token.String())
			}
		}
	}
}

func TestHostileMarkdown(t *testing.T) {
	r := NewRenderer()
	for _, text := range hostile {
		if found := unsafe(t, r.HTML(text)); found != nil {
			t.Errorf("%q makes %q", text, found)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	r := NewRenderer()
	f.Fuzz(func(t *testing.T, text string) {
		if found := unsafe(t, r.HTML(text)); found != nil {
			t.Errorf("%q makes %q", text, found)
		}
	})
}

func TestHTML(t *testing.T) {
	r := NewRenderer()
	got := r.HTML("# New\n\n- **fast** `x`\n- see https://a.example/1\n\n| a | b |\n|--|--|\n| 1 | 2 |")
	for _, want := range []string{"<h4>New</h4>", "<strong>fast</strong>", "<code>x</code>", `href="https://a.example/1"`, `rel="nofollow noreferrer noopener"`, "<td>1</td>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	// Deep nesting stays bounded: a note is 16 KB at most.
	for _, text := range []string{strings.Repeat("> ", maxBody/2), strings.Repeat("[", maxBody), strings.Repeat("*a_", maxBody/3), strings.Repeat("- ", maxBody/2)} {
		if found := unsafe(t, r.HTML(text)); found != nil {
			t.Errorf("%.20q… makes %q", text, found)
		}
	}
}
