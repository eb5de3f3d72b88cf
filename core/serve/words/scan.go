package words

import (
	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/decide/vulnerability"
	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Scanned says how two images compare, as it is stored: "fixes 3 critical and 2 high, adds none".
func Scanned(summary string) phrase.Phrase {
	if args, fits := phrase.Arguments("fixes %s, adds %s", summary); fits {
		return phrase.New("fixes %s, adds %s", preview.Counted(args[0]), preview.Counted(args[1]))
	}
	return phrase.Quote(summary)
}

// Severity is the word for how bad a vulnerability is.
func Severity(s vulnerability.Severity) phrase.Phrase {
	return phrase.Read(s.String(), "critical", "high", "medium", "low", "negligible", "unknown")
}
