package sdk_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the SDK imports, every plugin has to build, ship and keep free of
// vulnerabilities: a change of the golden file is a change for every author.
func TestPluginDependenciesMatchGolden(t *testing.T) {
	const golden = "deps.golden"
	got := dependencies(t, filepath.Join("..", "examples", "trigger-file"))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("a plugin builds other packages than before; if that is meant, run this test with -update:\n%s",
			diff(string(want), got))
	}
}

// dependencies lists the packages that the main package in dir is built of on
// Linux, below their modules; those of the standard library are left out.
func dependencies(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{$.ImportPath}}{{end}}", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	modules := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if module, pkg, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			modules[module] = append(modules[module], pkg)
		}
	}
	var text strings.Builder
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		slices.Sort(modules[module])
		text.WriteString(module + "\n\t" + strings.Join(modules[module], "\n\t") + "\n")
	}
	return text.String()
}
