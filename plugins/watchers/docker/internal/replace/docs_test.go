package replace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestDocumentationHasEveryCode(t *testing.T) {
	text, err := os.ReadFile("../../../../../docs/updating-in-depth.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	explained := func(file string, isCode func(name string) bool) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 || !isCode(spec.Names[0].Name) {
				return true
			}
			literal, is := spec.Values[0].(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			code, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if codes++; !strings.Contains(string(text), "`"+code+"`") {
				t.Errorf("docs/updating-in-depth.md does not explain %s", code)
			}
			return true
		})
	}
	ofPlan := func(name string) bool { return strings.HasPrefix(name, "Block") || strings.HasPrefix(name, "Warn") }
	explained("reason.go", ofPlan)
	explained("compose.go", ofPlan)
	explained("podman.go", ofPlan)
	explained("../quadlet/quadlet.go", ast.IsExported)
	explained("../compose/compose.go", ast.IsExported)
	if codes < 40 {
		t.Errorf("only %d codes were found", codes)
	}
}
