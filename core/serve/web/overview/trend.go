package overview

import (
	"cmp"
	"html/template"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/chart"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/sdk"
)

// fewDays is how many days the pictures of a young installation have.
const fewDays = 14

// trendView is how far behind the containers were, day by day.
type trendView struct {
	Sentence    phrase.Phrase
	First, Last phrase.Phrase
	Pictures    []picture
	// Days are those whose numbers differ from those of the day before, newest first.
	Days []dayRow
}

// dayRow is a day in words.
type dayRow struct {
	Date        phrase.Phrase
	Updates     int
	Sizes, Ages phrase.Phrase
}

// picture is a chart with what stands beside it.
type picture struct {
	Title phrase.Phrase
	SVG   template.HTML
	// Top is what its upper edge stands for.
	Top    int
	Legend []legendEntry
}

// legendEntry says what a colour means, and how many there are now.
type legendEntry struct {
	Class string
	Word  phrase.Phrase
	Now   int
}

// band is a colour of a picture: what it counts of a day.
type band struct {
	class string
	word  phrase.Phrase
	count func(history.Day) int
}

// sizes and ages are the bands of the two pictures, what matters most at the bottom.
func sizes() []band {
	return []band{
		{"major", phrase.New("major"), func(d history.Day) int { return d.Major }},
		{"minor", phrase.New("minor"), func(d history.Day) int { return d.Minor }},
		{"patch", phrase.New("patch"), func(d history.Day) int { return d.Patch }},
		{"prerelease", phrase.New("prerelease"), func(d history.Day) int { return d.Prerelease }},
		{"digest", words.Kind(sdk.KindDigest), func(d history.Day) int { return d.Digest }},
		{"other", words.Kind(tally.Other), func(d history.Day) int { return d.Other }},
	}
}

func ages() []band {
	return []band{
		{"older", phrase.New("30 days and longer"), func(d history.Day) int { return d.Age.Older }},
		{"month", phrase.New("7 to 29 days"), func(d history.Day) int { return d.Age.Month }},
		{"week", phrase.New("less than 7 days"), func(d history.Day) int { return d.Age.Week }},
	}
}

// trendOf shows days; nil when there is nothing to see in them yet.
func trendOf(in *language.Language, days []history.Day) *trendView {
	if len(days) < 2 {
		return nil
	}
	most := slices.MaxFunc(days, func(a, b history.Day) int { return cmp.Compare(a.Updates, b.Updates) })
	if most.Updates == 0 {
		return nil
	}
	first, last := days[0], days[len(days)-1]
	v := &trendView{
		First: date(first), Last: phrase.New("today"),
		Sentence: phrase.New("%s now, held ones included; %d on %s.",
			phrase.Count(last.Updates, "update"), first.Updates, date(first)),
	}
	if most.Updates > max(first.Updates, last.Updates) {
		v.Sentence = phrase.New("%s now, held ones included; %d on %s, and at most %d, on %s.",
			phrase.Count(last.Updates, "update"), first.Updates, date(first), most.Updates, date(most))
	}
	if missing := fewDays - len(days); missing > 0 {
		v.First = shortDate(last, 1-fewDays)
	}
	v.Pictures = []picture{pictureOf(in, "size", phrase.New("By kind"), days, sizes()),
		pictureOf(in, "age", phrase.New("By time pending"), days, ages())}
	for i, d := range slices.Backward(days) {
		before := history.Day{}
		if i > 0 {
			before = days[i-1]
		}
		if before.Date = d.Date; d != before {
			v.Days = append(v.Days, dayRow{
				Date: date(d), Updates: d.Updates, Sizes: countsOf(d, sizes()), Ages: countsOf(d, ages()),
			})
		}
	}
	return v
}

// countsOf are the bands of a day that count something: "major: 2, minor: 7", or "none".
func countsOf(d history.Day, bands []band) phrase.Phrase {
	var counts []phrase.Phrase
	for _, b := range bands {
		if n := b.count(d); n > 0 {
			counts = append(counts, phrase.New("%s: %d", b.word, n))
		}
	}
	if len(counts) == 0 {
		return phrase.New("none")
	}
	return phrase.Join(", ", counts...)
}

func pictureOf(in *language.Language, id string, title phrase.Phrase, days []history.Day, bands []band) picture {
	p := picture{Title: title}
	missing := max(0, fewDays-len(days))
	var drawn []chart.Band
	var counts []phrase.Phrase
	for _, b := range bands {
		values := make([]int, missing, missing+len(days))
		for _, d := range days {
			values = append(values, b.count(d))
		}
		if slices.Max(values) == 0 {
			continue
		}
		drawn = append(drawn, chart.Band{Class: b.class, Values: values})
		now := values[len(values)-1]
		p.Legend = append(p.Legend, legendEntry{b.class, b.word, now})
		counts = append(counts, phrase.New("%s: %d", b.word, now))
	}
	description := phrase.New("%s, from %s until today. Now %s.", phrase.Count(len(days), "day"), date(days[0]),
		phrase.Join(", ", counts...))
	svg, top := chart.Stack(chart.Text{
		ID: "behind-" + id, Title: in.Say(phrase.New("Updates by day, %s", title)), Description: in.Say(description),
	}, drawn)
	p.SVG, p.Top = template.HTML(svg), top // chart escapes its texts
	return p
}

// date is a day as users read it: "3 Nov".
func date(d history.Day) phrase.Phrase { return shortDate(d, 0) }

// shortDate is the date some days after a day.
func shortDate(d history.Day, after int) phrase.Phrase {
	day, err := time.Parse(time.DateOnly, d.Date)
	if err != nil {
		return phrase.Verbatim(d.Date)
	}
	return phrase.Time("2 Jan", day.AddDate(0, 0, after))
}
