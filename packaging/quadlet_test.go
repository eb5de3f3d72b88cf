package packaging_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestQuadletIsThatOfThePage: docs/podman.md shows the quadlet as it is, without its comments.
func TestQuadletIsThatOfThePage(t *testing.T) {
	unit, err := os.ReadFile("podman/dogwatch.container")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/podman.md")
	if err != nil {
		t.Fatal(err)
	}
	bare := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(unit), "")
	if !strings.Contains(string(page), "```ini\n"+bare+"```\n") {
		t.Errorf("docs/podman.md does not show\n%s", bare)
	}
}
