package check

import "github.com/dogwatch/dogwatch/core/model/phrase"

// oddLabel is what is odd about a label, as it is logged. Errors in it stay in English.
func oddLabel(text string) phrase.Phrase {
	return phrase.Read(text,
		"%s begins or ends with white space, which keeps its first or last item from matching: remove it",
		"%s names the trigger %s, which is not configured: did you mean %s?",
		"%s names the trigger %s, which is not configured",
		"%s: not used, since %s is set",
		"%s: counts for an image that was built here only",
		"label %s from the image: ignored: only the operator may say this, by a label of the container itself",
		"label %s from the image: ignored: only the operator may say this",
		"label %s from the image: ignored: only the operator may replace %s (%s) by %s",
		"label %s from the image: ignored: an image may have only its own container probed, as :8080/health or :5432",
		"label %s from the image: ignored: labels.image is none",
		"unknown label %s, ignored: did you mean %s?",
		"unknown label %s, ignored",
	)
}
