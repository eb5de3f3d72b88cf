package core_test

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxStatements is how many statements a function has at most.
const maxStatements = 50

func TestFunctionsAreShort(t *testing.T) {
	for _, file := range sources(t, ".go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, readSource(t, file), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || function.Body == nil || ast.IsGenerated(parsed) {
				continue
			}
			if n := statements(function.Body); n > maxStatements {
				t.Errorf("%s: %s has %d statements, more than %d", files.Position(function.Pos()), function.Name.Name,
					n, maxStatements)
			}
		}
	}
}

// statements counts those of a function with those of the functions within it. Blocks and their labels do not count.
func statements(body *ast.BlockStmt) (n int) {
	ast.Inspect(body, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.EmptyStmt, *ast.LabeledStmt:
		case ast.Stmt:
			n++
		}
		return true
	})
	return n
}

// maxColumns is how many characters a line has at most, without its strings and addresses.
const maxColumns = 120

func TestLinesAreShort(t *testing.T) {
	for _, file := range sources(t, ".go") {
		source := readSource(t, file)
		if strings.HasPrefix(source, "// Code generated") {
			continue
		}
		for i, n := range columns(source) {
			if n > maxColumns {
				t.Errorf("%s:%d: %d characters, more than %d", file, i+1, n, maxColumns)
			}
		}
	}
}

// columns returns how long each line of a Go file is, without what is in strings and the addresses in comments.
func columns(source string) []int {
	lines := strings.Split(source, "\n")
	lengths := make([]int, len(lines))
	for i, line := range lines {
		lengths[i] = utf8.RuneCountInString(line)
	}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var tokens scanner.Scanner
	tokens.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	for {
		position, kind, text := tokens.Scan()
		first := file.Line(position) - 1
		switch kind {
		case token.EOF:
			return lengths
		case token.STRING:
			for i, part := range strings.Split(text, "\n") {
				lengths[first+i] -= utf8.RuneCountInString(part)
			}
		case token.COMMENT:
			for _, word := range strings.Fields(text) {
				if strings.Contains(word, "://") {
					lengths[first] -= utf8.RuneCountInString(word)
				}
			}
		}
	}
}

// maxLines is how many lines of Go are written by hand at most, without tests, generated code and examples.
const maxLines = 157_765

// TestCodeHasNoMoreLines holds the weight of the program: what is added takes the place of something, or says what it
// is worth.
func TestCodeHasNoMoreLines(t *testing.T) {
	n := 0
	for _, file := range sources(t, ".go") {
		source := readSource(t, file)
		if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "examples/") &&
			!strings.HasPrefix(source, "// Code generated") {
			n += strings.Count(source, "\n")
		}
	}
	switch {
	case n > maxLines:
		t.Errorf("%d lines are written by hand, more than %d: take away as many as are added (duplicated code, what "+
			"nothing calls), or raise maxLines in core/size_test.go and say in the commit what the lines are worth",
			n, maxLines)
	case n <= maxLines-200:
		t.Errorf("%d lines are written by hand, far fewer than %d: lower maxLines in core/size_test.go to %d, so that "+
			"they stay away", n, maxLines, (n+99)/100*100)
	}
}
