package tally

import "github.com/dogwatch/dogwatch/sdk"

// Word is a Kind as users read it, on pages and on the command line: "rebuilt" for a new image
// behind the same tag, "newer" for a version whose distance has no name.
func Word(kind string) string {
	switch kind {
	case sdk.KindDigest:
		return "rebuilt"
	case Other:
		return "newer"
	}
	return kind
}
