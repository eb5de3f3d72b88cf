package migrate

import (
	"fmt"
	"strings"
)

// diffContext is how many lines around a change are shown.
const diffContext = 3

// Diff returns what a result changes as a unified diff, which patch(1)
// understands; "" when it changes nothing. Rewriting never adds or removes
// lines, so lines are compared one by one.
func (r Result) Diff(before []byte) string {
	var b strings.Builder
	if r.New {
		lines := splitLines(string(r.Text))
		fmt.Fprintf(&b, "--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n", r.Name, len(lines))
		for _, l := range lines {
			writeLine(&b, '+', l)
		}
		return b.String()
	}
	was, now := splitLines(string(before)), splitLines(string(r.Text))
	for line := 0; line < len(was); {
		if was[line] == now[line] {
			line++
			continue
		}
		from, to := max(0, line-diffContext), line
		for i := line; i < min(len(was), to+2*diffContext+1); i++ {
			if was[i] != now[i] {
				to = i + 1
			}
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", r.Name, r.Name)
		}
		last := to
		to = min(len(was), to+diffContext)
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1, to-from)
		hunk(&b, was[from:to], now[from:to])
		line = last
	}
	return b.String()
}

// hunk writes lines, those that were before those that are.
func hunk(b *strings.Builder, was, now []string) {
	for i := 0; i < len(was); {
		if was[i] == now[i] {
			writeLine(b, ' ', was[i])
			i++
			continue
		}
		end := i
		for end < len(was) && was[end] != now[end] {
			writeLine(b, '-', was[end])
			end++
		}
		for ; i < end; i++ {
			writeLine(b, '+', now[i])
		}
	}
}

func writeLine(b *strings.Builder, mark byte, line string) {
	b.WriteByte(mark)
	b.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}

// splitLines keeps the line breaks.
func splitLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}
