package page

import (
	"html/template"
	"slices"
	"strings"
	"text/template/parse"
	"unicode"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Templates are English. When they are parsed, phrases that they show are said in the language of the page; for another
// language, their texts and the attributes that users read or hear are translated, too.

// translatable are the attributes whose values users read or hear.
var translatable = []string{"aria-label", "title", "placeholder", "alt"}

// verbatim are the elements whose text is no language's.
var verbatim = []string{"code", "pre", "kbd"}

// unmarked are the elements that have text only, and no elements in it.
var unmarked = []string{"title", "option", "textarea", "script", "style"}

// The names of the functions that say phrases in the language of a page: in attributes, and among elements.
const (
	sayFunction     = "say"
	sayHTMLFunction = "sayHTML"
)

// translation walks through the templates of a page.
type translation struct {
	// say translates a text of a template, without white space around it; nil keeps texts.
	say func(english string) string
	// literal, if set, is called with each phrase and noun that a template names.
	literal func(function, english string)

	place   place
	quote   byte   // what ends the attribute
	element string // the one whose tag is open, or was last
}

// place is where in the markup a walk is.
type place int

const (
	inText place = iota
	inTag
	inAttribute
	inReadAttribute
)

func (t *translation) template(page *template.Template) {
	for _, part := range page.Templates() {
		if part.Tree != nil {
			t.place = inText
			t.list(part.Tree.Root)
		}
	}
}

func (t *translation) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, node := range l.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			n.Text = []byte(t.text(string(n.Text)))
		case *parse.ActionNode:
			t.pipe(n.Pipe)
			if len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{
					NodeType: parse.NodeCommand, Args: []parse.Node{parse.NewIdentifier(t.function()).SetPos(n.Pos)},
				})
			}
		case *parse.IfNode:
			t.branch(&n.BranchNode)
		case *parse.RangeNode:
			t.branch(&n.BranchNode)
		case *parse.WithNode:
			t.branch(&n.BranchNode)
		case *parse.TemplateNode:
			t.pipe(n.Pipe)
		}
	}
}

// function is the name of the one that says a phrase where the walk is.
func (t *translation) function() string {
	if t.place == inText && !slices.Contains(unmarked, t.element) {
		return sayHTMLFunction
	}
	return sayFunction
}

// branch walks through both lists of a branch, which begin and end in the same place of the markup.
func (t *translation) branch(b *parse.BranchNode) {
	t.pipe(b.Pipe)
	before := *t
	t.list(b.List)
	if b.ElseList != nil {
		t.place, t.quote, t.element = before.place, before.quote, before.element
		t.list(b.ElseList)
	}
}

// pipe reports the literals of phrases and nouns.
func (t *translation) pipe(p *parse.PipeNode) {
	if p == nil || t.literal == nil {
		return
	}
	for _, command := range p.Cmds {
		function, called := command.Args[0].(*parse.IdentifierNode)
		for _, arg := range command.Args {
			switch a := arg.(type) {
			case *parse.PipeNode:
				t.pipe(a)
			case *parse.StringNode:
				if called {
					t.literal(function.Ident, a.Text)
				}
			}
		}
	}
}

// text translates what users read of a piece of markup, which may begin and end anywhere.
func (t *translation) text(markup string) string {
	var b strings.Builder
	for markup != "" {
		end, next := len(markup), t.place
		switch t.place {
		case inText:
			if i := strings.IndexByte(markup, '<'); i >= 0 {
				end, next = i, inTag
			}
		case inTag:
			end, next = t.tag(markup)
		case inAttribute, inReadAttribute:
			if i := strings.IndexByte(markup, t.quote); i >= 0 {
				end, next = i, inTag
			}
		}
		piece := markup[:end]
		if t.place == inReadAttribute || t.place == inText && !slices.Contains(verbatim, t.element) {
			piece = t.piece(piece)
		}
		b.WriteString(piece)
		if end < len(markup) && next == inTag && (t.place == inAttribute || t.place == inReadAttribute) {
			b.WriteByte(t.quote)
			end++
		}
		markup, t.place = markup[end:], next
	}
	return b.String()
}

// tag returns how much of a markup belongs to a tag, and what follows: text, or the value of one of its attributes.
func (t *translation) tag(markup string) (end int, next place) {
	if name, begins := strings.CutPrefix(markup, "<"); begins {
		t.element, _, _ = strings.Cut(strings.TrimRight(name, "\n"), " ")
		t.element, _, _ = strings.Cut(t.element, ">")
	}
	i := strings.IndexAny(markup, `>"'`)
	switch {
	case i < 0:
		return len(markup), inTag
	case markup[i] == '>':
		return i + 1, inText
	}
	t.quote = markup[i]
	name := strings.TrimSuffix(markup[strings.LastIndexAny(markup[:i], " \n")+1:i], "=")
	if slices.Contains(translatable, name) {
		return i + 1, inReadAttribute
	}
	return i + 1, inAttribute
}

// piece translates a text, and keeps the white space around it.
func (t *translation) piece(text string) string {
	words := strings.TrimSpace(text)
	if t.say == nil || !strings.ContainsFunc(words, unicode.IsLetter) {
		return text
	}
	begin, end, _ := strings.Cut(text, words)
	return begin + t.say(strings.Join(strings.Fields(words), " ")) + end
}

// say says phrases in the language of a page, and leaves everything else as it is.
func say[T any](in func(phrase.Phrase) T) func(any) any {
	return func(v any) any {
		if p, is := v.(phrase.Phrase); is {
			return in(p)
		}
		return v
	}
}
