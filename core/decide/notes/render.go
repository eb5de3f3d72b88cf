package notes

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/internal/webaddress"
)

// Renderer makes HTML of Markdown by foreign authors. Its methods may be called concurrently.
//
// It sanitises before it renders: what is not allowed is not written, rather
// than found again in HTML. The tests hold its output against a sanitiser of HTML,
// bluemonday, which must find nothing to remove. Running that here, too, would take
// 0.7 MB in each of the four processes of the program, for its tables.
type Renderer struct {
	markdown goldmark.Markdown
}

// NewRenderer returns a Renderer.
func NewRenderer() *Renderer {
	return &Renderer{markdown: goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), // the others need styles
			extension.Strikethrough, extension.Linkify),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(plain{}, 1000))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(links{}, 100))),
	)}
}

// HTML returns the HTML of Markdown: text, lists, tables, code and links to other sites, which
// open beside the page. There are no images, which would tell their host who reads, no forms,
// no styles, and nothing of HTML that is written in the Markdown. Headings are below level 2.
func (r *Renderer) HTML(markdown string) string {
	var b bytes.Buffer
	if err := r.markdown.Convert([]byte(markdown), &b); err != nil {
		return "" // a bytes.Buffer accepts all
	}
	return visible.Text(b.String()) // what is written as an entity, as &#x202e;, stands here as itself
}

// plain takes out of a document what would be rendered with attributes, and
// makes its headings fit below those of a page.
type plain struct{}

// Transform implements parser.ASTTransformer.
func (plain) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	fit := headings(document)
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		n.RemoveAttributes()
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = fit(n.Level)
		case *ast.FencedCodeBlock:
			n.Info = nil // the language, a class
		case *ast.List:
			n.Start = 1
		}
		return ast.WalkContinue, nil
	})
}

// pageLevel is the level of the heading of a page above the text.
const pageLevel = 2

// headings returns what makes the levels of the headings of a document, one after the other, those
// of a part of a page: they begin below pageLevel, whatever its author begins with, and skip none.
func headings(document *ast.Document) func(level int) int {
	var used [7]bool
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, isHeading := n.(*ast.Heading); isHeading && entering {
			used[h.Level] = true
		}
		return ast.WalkContinue, nil
	})
	last := pageLevel
	return func(level int) int {
		fit := pageLevel + 1
		for above := 1; above < level; above++ {
			if used[above] {
				fit++
			}
		}
		last = min(fit, last+1, len(used)-1)
		return last
	}
}

// links renders the nodes that lead elsewhere or are HTML. Their
// destinations are allowed, not forbidden: absolute addresses of web sites.
type links struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (links) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if to := webAddress(n.(*ast.Link).Destination); to == "" {
			return ast.WalkContinue, nil // its text alone
		} else if entering {
			openLink(w, to)
		} else {
			_, _ = w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		link := n.(*ast.AutoLink)
		to := webAddress(link.URL(source))
		if to != "" {
			openLink(w, to)
		}
		_, _ = w.Write(util.EscapeHTML(link.Label(source)))
		if to != "" {
			_, _ = w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
	for _, kind := range []ast.NodeKind{ast.KindImage, ast.KindRawHTML, ast.KindHTMLBlock} {
		r.Register(kind, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
			return ast.WalkSkipChildren, nil
		})
	}
}

func openLink(w util.BufWriter, to string) {
	_, _ = w.WriteString(`<a href="`)
	_, _ = w.Write(util.EscapeHTML([]byte(to)))
	_, _ = w.WriteString(`" rel="nofollow noreferrer noopener" target="_blank">`)
}

// webAddress returns the address of a web site that a destination in Markdown is,
// or "". Characters written as entities count as what they stand for.
func webAddress(destination []byte) string {
	return webaddress.Of(string(util.URLEscape(destination, true)))
}
