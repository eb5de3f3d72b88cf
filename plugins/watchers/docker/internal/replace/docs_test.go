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
	text, err := os.ReadFile("../../../../../docs/updating.md")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || !strings.HasPrefix(spec.Names[0].Name, "Block") && !strings.HasPrefix(spec.Names[0].Name, "Warn") {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if codes++; !strings.Contains(string(text), "`"+code+"`") {
			t.Errorf("docs/updating.md does not explain %s", code)
		}
		return true
	})
	if codes < 16 {
		t.Errorf("only %d codes were found", codes)
	}
}
