package notes

import (
	"bytes"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Renderer makes HTML of Markdown by foreign authors. Its methods may be called concurrently.
type Renderer struct {
	markdown goldmark.Markdown
	policy   *bluemonday.Policy
}

// NewRenderer returns a Renderer.
func NewRenderer() *Renderer {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return &Renderer{policy: p, markdown: goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(headings{}, 100))),
	)}
}

// HTML returns the HTML of Markdown: text, lists, tables, code and links to other sites, which
// open beside the page. There are no images, which would tell their host who reads, no forms,
// no styles, and nothing of HTML that is written in the Markdown. Headings are below level 3.
func (r *Renderer) HTML(markdown string) string {
	var b bytes.Buffer
	if err := r.markdown.Convert([]byte(markdown), &b); err != nil {
		return "" // a bytes.Buffer accepts all
	}
	return string(r.policy.SanitizeBytes(b.Bytes()))
}

// headings makes headings fit below those of a page.
type headings struct{}

// Transform implements parser.ASTTransformer.
func (headings) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			h.Level = min(h.Level+3, 6)
		}
		return ast.WalkContinue, nil
	})
}
