package preview

import (
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/sdk"
)

// facts says a reason by its text, with the versions, times and rules in it; nil for a text that package policy does
// not write.
func facts(r sdk.Reason) phrase.Phrase {
	switch r.Code {
	case policy.ReasonSecurity:
		if args, fits := phrase.Arguments("it fixes %s, so it need not be %s old", r.Text); fits {
			return phrase.New("it fixes %s, so it need not be %s old", Vulnerabilities(args[0]), phrase.Argument(args[1]))
		}
	case policy.ReasonApproval:
		if args, fits := phrase.Arguments("it waits for your approval, since the new image adds %s", r.Text); fits {
			return phrase.New("it waits for your approval, since the new image adds %s", Vulnerabilities(args[0]))
		}
	case policy.ReasonSkipped, policy.ReasonSnoozed, policy.ReasonApproved, policy.ReasonInvalidRule:
		return nil
	}
	text, isImage := strings.CutPrefix(r.Text, "the new image of ")
	said := phrase.Read(text, "%s matches %s, which is skipped", "%s is a %s update, and the threshold is %s",
		"%s was first seen just now and must be %s old", "%s was released on %s and must be %s old",
		"%s was first seen on %s and must be %s old", "%s was moved to another image on %s and must be %s old",
		"%s must be %s old, and its age is not known until the next check",
		"it waits for your approval", "it waits for your approval, since it is a major update",
		"it is a major update, which is not carried out by itself",
		"%s is a major update, which is not carried out by itself",
		"the watcher may not update containers: %s", "the watcher may not update containers",
		"stack stopped by %s (failed %s)", "stack stopped by %s (cancelled %s)")
	switch {
	case phrase.IsVerbatim(said) || said == nil:
		return nil
	case isImage:
		return phrase.New("the new image of %s", said)
	}
	return said
}

// Vulnerabilities says how many there are of a severity: "3 critical and 2 high vulnerabilities".
func Vulnerabilities(text string) phrase.Phrase {
	counts, several := strings.CutSuffix(text, " vulnerabilities")
	counts = strings.TrimSuffix(counts, " vulnerability")
	switch {
	case counts == "no":
		return phrase.New("no vulnerability")
	case several:
		return phrase.New("%s vulnerabilities", Counted(counts))
	}
	return phrase.New("%s vulnerability", Counted(counts))
}

// Counted says how many there are without the noun: "3 critical and 2 high", "none".
func Counted(counts string) phrase.Phrase {
	last := phrase.Phrase(nil)
	if before, after, found := strings.Cut(counts, " and "); found {
		counts, last = before, severity(after)
	}
	var parts []phrase.Phrase
	for part := range strings.SplitSeq(counts, ", ") {
		parts = append(parts, severity(part))
	}
	said := phrase.Join(", ", parts...)
	if last != nil {
		return phrase.New("%s and %s", said, last)
	}
	return said
}

func severity(text string) phrase.Phrase {
	return phrase.Read(text, "%s critical", "%s high", "%s medium", "%s low", "%s negligible or unknown", "%s others",
		"%s other", "none")
}
