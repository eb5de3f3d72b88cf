package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
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
