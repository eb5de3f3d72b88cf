package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestTroubleshootingDocsQuoteWhatIsSaid: each message that docs/troubleshooting.md explains is in the source.
func TestTroubleshootingDocsQuoteWhatIsSaid(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	said := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 2 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			said++
			grep := exec.Command("grep", "-rqF", "--include=*.go", "--exclude=*_test.go", m[1],
				"../../core", "../../plugins", "../../sdk", "../../internal", ".")
			if !strings.Contains(m[1], ".") && grep.Run() != nil && m[1] != "address already in use" { // the system says that
				t.Errorf("nothing says %q", m[1])
			}
		}
	}
	if said < 12 {
		t.Errorf("%d messages are explained", said)
	}
}
