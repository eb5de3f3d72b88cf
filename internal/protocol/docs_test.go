package protocol

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocsHaveTheBounds: the table for authors has what is enforced.
func TestDocsHaveTheBounds(t *testing.T) {
	text, err := os.ReadFile("../../docs/plugins-writing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Bounds\n")
	section, _, _ = strings.Cut(section, "\n## ")
	thousands := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	const together = "what the answers to all calls of a plugin that are under way occupy in memory"
	for what, most := range map[string]string{
		"one message": fmt.Sprintf("%d MiB; of `Describe`, `Configure`, `Release` and `Probe` %d MiB;",
			MaxMessage>>20, MaxComponentMessage>>20),
		"containers in a list": thousands(MaxContainers),
		"tags in a list":       thousands(MaxTags),
		"entries of any other list, and steps of an update": thousands(MaxEntries),

		"labels of a container, or entries of any other map": fmt.Sprint(MaxLabels),
		"one of them, name and value together": fmt.Sprintf("%d KiB; %d KiB of a label",
			MaxLabel>>10, MaxText>>10),
		"a text":                                 fmt.Sprintf("%d KiB", MaxText>>10),
		"the text of an error, or of its remedy": fmt.Sprintf("%d KiB", maxErrorText>>10),
		together:                                 fmt.Sprintf("%d MiB", MaxHeld>>20),
	} {
		if row := "| " + what + " | " + most; !strings.Contains(section, row) {
			t.Errorf("the table has no %q", row)
		}
	}
}
