package preview

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk"
)

var (
	clockWords = lazyregexp.New(`[A-Za-z]+|[^A-Za-z]+`)
	clockTimes = lazyregexp.New(`(:\d\d)-(\d)`)
)

// closed says of a window or a freeze when it is, as people read it; nil for any other reason.
func closed(r sdk.Reason) phrase.Phrase {
	if r.Code != policy.ReasonWindow && r.Code != policy.ReasonFreeze {
		return nil
	}
	for _, format := range []string{"it waits for the next update window (%s)", "it then waits for an update window (%s)",
		"updates are frozen (%s)"} {
		if args, fits := phrase.Arguments(format, r.Text); fits {
			return phrase.New(format, clock(args[0]))
		}
	}
	return nil
}

// clock is a window or a freeze within a sentence: "Sat, Sun 02:00–05:00". Cron expressions stay as they are.
func clock(rule string) phrase.Phrase {
	if strings.Contains(rule, "*") {
		return phrase.Verbatim(rule)
	}
	var said []phrase.Phrase
	isDay := false
	for _, word := range clockWords().FindAllString(rule, -1) {
		if isDay && word == "-" {
			word = "–"
		}
		day := phrase.Read(word, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Monday", "Tuesday", "Wednesday", "Thursday",
			"Friday", "Saturday", "Sunday", "daily", "weekdays", "weekends", "first", "second", "third", "fourth", "last")
		if isDay = !phrase.IsVerbatim(day); !isDay {
			day = phrase.Verbatim(clockTimes().ReplaceAllString(strings.ReplaceAll(word, ",", ", "), "$1–$2"))
		}
		said = append(said, day)
	}
	return phrase.Join("", said...)
}
