// Package signedlinktoken knows the form of the secret in signed links, so that logs,
// histories and responses can be kept free of them, wherever they come from.
package signedlinktoken

import (
	"strings"
)

// Prefix begins every token: "dwl" stands for Dogwatch link.
const Prefix = "dwl_"

// shortest is from how many characters behind the prefix a text is a token.
const shortest = 16

// Blank returns text with blank in the place of each token.
func Blank(text, blank string) string {
	if !strings.Contains(text, Prefix) {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, Prefix)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		n := 0
		for n < len(after) && inToken(after[n]) {
			n++
		}
		if n < shortest {
			out.WriteString(Prefix + after[:n])
		} else {
			out.WriteString(blank)
		}
		text = after[n:]
	}
}

func inToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
