package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

const maxFunctionLines = 80

func TestFunctionsOfTheCoreAreShort(t *testing.T) {
	for _, file := range sources(t, ".go") {
		if !in(file, "core") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, readSource(t, file), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := files.Position(function.Pos()).Line, files.Position(function.End()).Line
			if lines := last - first + 1; lines > maxFunctionLines {
				t.Errorf("%s:%d: %s has %d lines, more than %d", file, first, function.Name.Name, lines, maxFunctionLines)
			}
		}
	}
}
