package overview

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/core/model/history"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/chart"
	"github.com/dogwatch/dogwatch/sdk"
)

// fewDays is how many days the pictures of a young installation have.
const fewDays = 14

// trendView is how far behind the containers were, day by day.
type trendView struct {
	Sentence    string
	First, Last string
	Pictures    []picture
	// Days are those whose numbers differ from those of the day before, newest first.
	Days []dayRow
}

// dayRow is a day in words.
type dayRow struct {
	Date        string
	Updates     int
	Sizes, Ages string
}

// picture is a chart with what stands beside it.
type picture struct {
	Title string
	SVG   template.HTML
	// Top is what its upper edge stands for.
	Top    int
	Legend []legendEntry
}

// legendEntry says what a colour means, and how many there are now.
type legendEntry struct {
	Class, Word string
	Now         int
}

// band is a colour of a picture: what it counts of a day.
type band struct {
	class, word string
	count       func(history.Day) int
}

// sizes and ages are the bands of the two pictures, what matters most at the bottom.
func sizes() []band {
	return []band{
		{"major", "major", func(d history.Day) int { return d.Major }},
		{"minor", "minor", func(d history.Day) int { return d.Minor }},
		{"patch", "patch", func(d history.Day) int { return d.Patch }},
		{"prerelease", "prerelease", func(d history.Day) int { return d.Prerelease }},
		{"digest", tally.Word(sdk.KindDigest), func(d history.Day) int { return d.Digest }},
		{"other", tally.Word(tally.Other), func(d history.Day) int { return d.Other }},
	}
}

func ages() []band {
	return []band{
		{"older", "30 days and longer", func(d history.Day) int { return d.Age.Older }},
		{"month", "7 to 29 days", func(d history.Day) int { return d.Age.Month }},
		{"week", "less than 7 days", func(d history.Day) int { return d.Age.Week }},
	}
}

// trendOf shows days; nil when there is nothing to see in them yet.
func trendOf(days []history.Day) *trendView {
	if len(days) < 2 {
		return nil
	}
	most := slices.MaxFunc(days, func(a, b history.Day) int { return cmp.Compare(a.Updates, b.Updates) })
	if most.Updates == 0 {
		return nil
	}
	first, last := days[0], days[len(days)-1]
	v := &trendView{
		First: date(first), Last: "today",
		Sentence: fmt.Sprintf("%s now, those held included; %d on %s; most were %d, on %s.",
			phrase.Count(last.Updates, "update").String(), first.Updates, date(first), most.Updates, date(most)),
	}
	if missing := fewDays - len(days); missing > 0 {
		v.First = shortDate(last, 1-fewDays)
	}
	v.Pictures = []picture{pictureOf("size", "By size", days, sizes()),
		pictureOf("age", "By age", days, ages())}
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
func countsOf(d history.Day, bands []band) string {
	var counts []string
	for _, b := range bands {
		if n := b.count(d); n > 0 {
			counts = append(counts, fmt.Sprintf("%s: %d", b.word, n))
		}
	}
	if len(counts) == 0 {
		return "none"
	}
	return strings.Join(counts, ", ")
}

func pictureOf(id, title string, days []history.Day, bands []band) picture {
	p := picture{Title: title}
	missing := max(0, fewDays-len(days))
	var drawn []chart.Band
	description := phrase.Count(len(days), "day").String() + ", from " + date(days[0]) + " until today. Now "
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
		if len(p.Legend) > 1 {
			description += ", "
		}
		description += fmt.Sprintf("%s: %d", b.word, now)
	}
	svg, top := chart.Stack(chart.Text{
		ID: "behind-" + id, Title: "Updates by day, " + title, Description: description + ".",
	}, drawn)
	p.SVG, p.Top = template.HTML(svg), top // chart escapes its texts
	return p
}

// date is a day as users read it: "3 Nov".
func date(d history.Day) string { return shortDate(d, 0) }

// shortDate is the date some days after a day.
func shortDate(d history.Day, after int) string {
	day, err := time.Parse(time.DateOnly, d.Date)
	if err != nil {
		return d.Date
	}
	return day.AddDate(0, 0, after).Format("2 Jan")
}
