package sdk_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// Everything exported under sdk, but for sdk/proto, is promised to plugins: a
// change of the golden file is a change of the promise.
func TestExportedAPIMatchesGolden(t *testing.T) {
	const golden = "api.golden"
	got := api(t)
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the exported API has changed; if that is meant, run this test with -update:\n%s",
			diff(string(want), string(got)))
	}
}

// diff lists the lines that only one of the texts has.
func diff(was, is string) string {
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	var out []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			out = append(out, "+ "+line)
		}
	}
	return strings.Join(out, "\n")
}

// api prints the exported declarations of every package, without comments and bodies.
func api(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if slices.Contains([]string{"proto", "internal", "testdata"}, entry.Name()) {
			return filepath.SkipDir
		}
		return writePackage(&out, dir)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func writePackage(out *bytes.Buffer, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	var decls []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			text, err := declaration(set, d)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			decls = append(decls, text...)
		}
	}
	if len(decls) == 0 {
		return nil
	}
	slices.Sort(decls)
	fmt.Fprintf(out, "package %s\n\n%s\n\n", path.Join("sdk", filepath.ToSlash(dir)), strings.Join(decls, "\n"))
	return nil
}

// declaration prints each of the things that d declares.
func declaration(set *token.FileSet, d ast.Decl) ([]string, error) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !isExported(d.Recv.List[0].Type) {
			return nil, nil
		}
		d.Body, d.Doc = nil, nil
		return printed(set, d)
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil, nil
		}
		var all []string
		for _, spec := range d.Specs {
			one, err := printed(set, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}})
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	return nil, nil
}

// isExported reports whether a receiver is of an exported type.
func isExported(receiver ast.Expr) bool {
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if generic, ok := receiver.(*ast.IndexExpr); ok {
		receiver = generic.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}

func printed(set *token.FileSet, node any) ([]string, error) {
	var out bytes.Buffer
	if err := printer.Fprint(&out, set, node); err != nil {
		return nil, err
	}
	// What was left out leaves blank lines and odd columns.
	text, err := format.Source(bytes.ReplaceAll(out.Bytes(), []byte("\n\n"), []byte("\n")))
	return []string{string(text)}, err
}
