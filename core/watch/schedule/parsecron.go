package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// Times are the moments a cron expression means, in local time.
type Times interface {
	// Next returns the first moment after t; the zero time when there is none.
	Next(t time.Time) time.Time
}

// ParseCron reads a cron expression of five fields, or six with seconds
// first, or a descriptor such as "@daily". Sunday is 0 or 7, and day and
// weekday must both match, as in WUD. The error says what is accepted.
func ParseCron(expression string) (Times, error) {
	text := strings.TrimSpace(expression)
	parser := cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
		cron.Descriptor)
	times, err := parser.Parse(widen(text))
	if err != nil {
		return nil, fmt.Errorf("cron expression %.100q %s", expression, explain(text, parser))
	}
	if times.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("cron expression %q never comes true: change its day or its month", expression)
	}
	return times, nil
}

// field is one position of a cron expression.
type field struct {
	name      string
	low, high int
	words     string
}

var fields = []field{
	{"second", 0, 59, ""}, {"minute", 0, 59, ""}, {"hour", 0, 23, ""},
	{"day", 1, 31, ""}, {"month", 1, 12, " or jan-dec"}, {"weekday", 0, 7, " or sun-sat"},
}

// positions returns the fields that n texts stand for; nil when there are no n fields.
func positions(n int) []field {
	if n != len(fields) && n != len(fields)-1 {
		return nil
	}
	return fields[len(fields)-n:]
}

// widen rewrites steps as wide as their field, such as "*/24" for the hour,
// which users write for "once": the parser refuses them.
func widen(text string) string {
	texts := strings.Fields(text)
	for i, f := range positions(len(texts)) {
		step, every := strings.CutPrefix(texts[i], "*/")
		if n, err := strconv.Atoi(step); every && err == nil && n > f.high-f.low {
			texts[i] = strconv.Itoa(f.low)
		}
	}
	return strings.Join(texts, " ")
}

// explain says what is wrong with an expression that the parser refuses.
func explain(text string, parser cron.Parser) string {
	if strings.HasPrefix(text, "@") {
		return "is no known shorthand: write @hourly, @daily, @weekly, @monthly, @yearly, or @every with a duration of at least 1s, such as @every 6h"
	}
	zone := ""
	if first, rest, found := strings.Cut(text, " "); found && strings.Contains(first, "TZ=") {
		if _, err := parser.Parse(first + " * * * * *"); err != nil {
			return fmt.Sprintf("names an unknown time zone %q", first)
		}
		zone, text = first+" ", rest
	}
	texts := strings.Fields(text)
	fields := positions(len(texts))
	if fields == nil {
		return fmt.Sprintf("has %d fields: write 5 (minute hour day month weekday), such as \"0 */6 * * *\", or 6 with seconds first", len(texts))
	}
	for i, f := range fields {
		alone := strings.Fields(strings.Repeat("* ", len(fields)))
		alone[i] = texts[i]
		if _, err := parser.Parse(widen(zone + strings.Join(alone, " "))); err != nil {
			return fmt.Sprintf("has the %s %q: write *, or numbers from %d to %d%s, with commas, ranges as 1-5 or steps as */2", f.name, texts[i], f.low, f.high, f.words)
		}
	}
	return "cannot be read: write 5 fields (minute hour day month weekday), such as \"0 */6 * * *\""
}
