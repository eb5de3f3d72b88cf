package compose

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// keyPattern is what may stand before the changed text on its line to be shown.
const keyPattern = `^\s*(export\s+)?["']?[A-Za-z_][\w.-]*["']?\s*[:=]\s*(&[\w-]+\s+)?["']?[\w.:/@${}?-]*$`

// diff returns a change as a unified diff without context. Env files, and compose
// files on one line, have secrets beside what is changed: those are not shown.
func diff(c Change, before []byte) string {
	start := bytes.LastIndexAny(before[:c.Offset], "\r\n") + 1
	end := c.Offset + len(c.Old)
	prefix := string(bytes.TrimPrefix(before[start:c.Offset], []byte("\uFEFF")))
	if prefix != "" && !regexp.MustCompile(keyPattern).MatchString(prefix) &&
		len(bytes.TrimLeft([]byte(prefix), " \t")) > 0 {
		prefix = "… "
	}
	suffix := string(bytes.TrimRight(yamltext.Line(before, end), " \t"))
	if !regexp.MustCompile(`^[\w.:/@${}?-]*["']?$`).MatchString(suffix) {
		suffix = " …"
	}
	return fmt.Sprintf("--- %s\n+++ %s\n@@ -%d +%d @@\n-%s%s%s\n+%s%s%s\n",
		c.File, c.File, c.Line, c.Line, prefix, c.Old, suffix, prefix, c.New, suffix)
}
