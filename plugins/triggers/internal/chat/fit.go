package chat

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// Fit returns text if it fits, else as much of its beginning as does; "" when nothing fits.
// The host writes what it says of a container as an item of a list: a list ends between two
// items and says how many are missing, and other texts end anywhere, with "…" behind them.
// A text that fits must do so without its last character, too.
func Fit(text string, fits func(string) bool) string {
	if fits(text) {
		return text
	}
	all := itemsOf(text)
	if len(all) < 2 {
		return cut(text, "", fits)
	}
	kept := sort.Search(len(all)-1, func(n int) bool { return !fits(text[:all[n].end] + missing(all[n+1:])) })
	if kept > 0 {
		return text[:all[kept-1].end] + missing(all[kept:])
	}
	first := text[:all[0].end]
	if part := cut(first, missing(all[1:]), fits); part != "" {
		return part
	}
	return cut(first, "", fits)
}

// FitBytes is Fit for a limit in bytes of UTF-8.
func FitBytes(text string, limit int) string {
	return Fit(strings.ToValidUTF8(text, "\uFFFD"), func(s string) bool { return len(s) <= limit })
}

// FitJSON returns the message that with makes of as much of text as leaves its JSON a limit in bytes.
func FitJSON[M any](text string, limit int, with func(text string) M) (M, error) {
	var problem error
	text = Fit(text, func(s string) bool {
		encoded, err := httpclient.EncodeJSON(with(s))
		if err != nil {
			problem = err
		}
		return len(encoded) <= limit
	})
	return with(text), problem
}

// cut returns the longest beginning of text that fits with "…" and an end behind it.
func cut(text, end string, fits func(string) bool) string {
	upTo := func(length int) string {
		for length > 0 && !utf8.RuneStart(text[length]) {
			length--
		}
		return text[:length] + "…" + end
	}
	first := sort.Search(len(text), func(length int) bool { return !fits(upTo(length)) })
	if first == 0 {
		return ""
	}
	return upTo(first - 1)
}

// item is a part of a list: where it ends, and about how many containers it is.
type item struct{ end, containers int }

const bullet = "- "

// itemsOf returns the items of a text, which begin with a bullet at the beginning of a line.
// The heading of a part of a summary belongs to what follows.
func itemsOf(text string) (all []item) {
	offset, afterBlank := 0, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimRight(line, " \r\n")
		rest, begins := strings.CutPrefix(trimmed, bullet)
		if more, isRest := strings.CutPrefix(trimmed, "… "); isRest {
			rest, begins = more, true
		}
		if begins {
			one := item{containers: 1}
			_, _ = fmt.Sscanf(rest, "and %d more", &one.containers)
			all = append(all, one)
		}
		heading := !begins && afterBlank && strings.HasSuffix(trimmed, ":")
		if len(all) > 0 && trimmed != "" && !heading {
			all[len(all)-1].end = offset + len(trimmed)
		}
		offset, afterBlank = offset+len(line), trimmed == ""
	}
	return all
}

// missing says how many containers items are about.
func missing(items []item) string {
	n := 0
	for _, one := range items {
		n += one.containers
	}
	return fmt.Sprintf("\n\n… and %d more", n)
}
