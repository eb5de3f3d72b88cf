package containers

import (
	"maps"
	"net/url"
	"slices"

	"github.com/maruel/natural"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/page"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// namesShown is how many containers a sentence names.
const namesShown = 6

// Line is one sentence of the overview.
type Line struct {
	// Kind is the word in front, with its colour.
	Kind       string
	Word, Text phrase.Phrase
	// Detail is the first of the errors that Text sums up, and Why what was answered, as a sentence.
	Detail string
	Why    phrase.Phrase
	// Links are what it is about.
	Links []page.Anchor
	More  int
	// To is where more of it is shown, below the base path; Act what the link says.
	To  string
	Act phrase.Phrase
}

// About names the containers of a sentence.
func About(rows []Row, l Line) Line {
	slices.SortFunc(rows, func(a, b Row) int { return natural.Compare(a.Name, b.Name) })
	for i, r := range rows {
		if i == namesShown {
			l.More = len(rows) - i
			break
		}
		l.Links = append(l.Links, page.Anchor{Text: r.Name, To: r.Href})
	}
	return l
}

// FailuresOf are sentences about failed checks, one for each cause.
func FailuresOf(all []Row) []Line {
	var lines []Line
	for _, f := range tally.Failures(all, func(r Row) (cause, err string) { return r.Cause, r.Failed }) {
		text, why := f.Of[0].Why(), phrase.Phrase(nil)
		if f.Detail != "" {
			text, why = outage(f), answerOf(f.Detail)
		}
		lines = append(lines, About(f.Of, Line{Kind: "failed", Word: phrase.New("check failed"), Text: text, Detail: f.Detail,
			Why: why, To: SearchPath(f.Text)}))
	}
	return lines
}

// silentOf are sentences about the engines of rows that do not respond: "nas does not respond: 9 containers as of
// 14:02".
func silentOf(all []trouble) []Line {
	var lines []Line
	of := map[string][]trouble{}
	for _, t := range all {
		if t.AsOf != nil {
			of[t.Watcher] = append(of[t.Watcher], t)
		}
	}
	for _, watcher := range slices.Sorted(maps.Keys(of)) {
		its := of[watcher]
		lines = append(lines, Line{
			Kind: "failed", Detail: its[0].Silence,
			Text: phrase.New("%s does not respond: %s as of %s", watcher, phrase.Count(len(its), "container"), its[0].AsOf),
		})
	}
	return lines
}

// outagesOf are sentences about the failures that several containers share.
func outagesOf(all []trouble) (lines []Line) {
	for _, f := range tally.Failures(all, func(t trouble) (cause, err string) { return t.Cause, t.Failed }) {
		if f.Detail != "" {
			lines = append(lines, Line{Kind: "failed", Text: outage(f), Detail: f.Detail,
				Why: answerOf(f.Detail), To: SearchPath(f.Text)})
		}
	}
	return lines
}

// answerOf is what was answered to the first of several checks, as a sentence.
func answerOf(err string) phrase.Phrase { return phrase.Capital(phrase.Sentence(words.AnswerOf(err))) }

// outage says what several containers fail by: "Docker Hub is unavailable: 9 containers".
func outage[T any](f tally.Failure[T]) phrase.Phrase {
	return phrase.Join(": ", words.Cause(f.Text), phrase.Count(len(f.Of), "container"))
}

// SearchPath is the list of the containers that a text is found in.
func SearchPath(text string) string { return "/containers?q=" + url.QueryEscape(text) }

// Failure says all of why the check of a row failed.
func (r Row) Failure() phrase.Phrase { return words.Failure(r.Failed) }

// Brief is Failure without what was asked of the registry, where others may fail by the same.
func (r Row) Brief() phrase.Phrase {
	if r.Cause == "" {
		return r.Failure()
	}
	return words.FailureOf(r.Cause, r.Failed)
}

// Why says why the check of a row failed, in the same words wherever that is shown: what others may fail by as well,
// then what the registry answered.
func (r *Row) Why() phrase.Phrase {
	return words.FailureOf(r.Cause, r.Failed)
}
