// Package chart draws pictures as SVG. They hold shapes and no visible text: the page that
// shows them stretches them to any width, says beside them in HTML what they mean, and
// colours their classes by CSS. What they show is in their title and description
// (WAI-ARIA Graphics, SVG 2 section 5.7), for those who do not see it.
package chart

import (
	"html"
	"strconv"
	"strings"
)

// height is that of the drawings, in units of their own.
const height = 1000

// Text is what a picture is about.
type Text struct {
	// ID begins the ids of its elements, and is unique in a page.
	ID, Title, Description string
}

// Band is a layer of a stack: the class of its colour, and its values from left to right, none of which is negative.
type Band struct {
	Class  string
	Values []int
}

// Stack draws bands on top of each other, the first at the bottom, with a step for each
// value: the picture is as many units wide as the longest of them has values. Its top is
// that of the highest step. It returns the SVG, and what its top stands for.
func Stack(text Text, bands []Band) (svg string, top int) {
	width := 0
	for _, b := range bands {
		width = max(width, len(b.Values))
	}
	sums := make([]int, width)
	for _, b := range bands {
		for i, v := range b.Values {
			sums[i] += v
			top = max(top, sums[i])
		}
	}
	d := open(text, "stack", width)
	d.WriteString(`<path class="grid" d="M0 0H` + strconv.Itoa(width) + `M0 ` + strconv.Itoa(height/2) + `H` +
		strconv.Itoa(width) + `"/>`)
	below := make([]int, width)
	for _, b := range bands {
		above := make([]int, width)
		any := false
		for i := range above {
			above[i] = below[i]
			if i < len(b.Values) {
				above[i] += b.Values[i]
				any = any || b.Values[i] > 0
			}
		}
		if any {
			d.WriteString(`<path class="` + html.EscapeString(b.Class) + `" d="` + steps(below, above, top) + `"/>`)
		}
		below = above
	}
	d.WriteString("</svg>")
	return d.String(), top
}

// steps returns the outlines of a layer between two lines: one for each stretch of steps at
// which it has a height.
func steps(below, above []int, top int) string {
	var d strings.Builder
	for from := 0; from < len(above); {
		if above[from] == below[from] {
			from++
			continue
		}
		to := from
		for to < len(above) && above[to] > below[to] {
			to++
		}
		d.WriteString("M" + strconv.Itoa(from) + " " + level(above[from], top))
		for i := from + 1; i < to; i++ {
			if above[i] != above[i-1] {
				d.WriteString("H" + strconv.Itoa(i) + "V" + level(above[i], top))
			}
		}
		d.WriteString("H" + strconv.Itoa(to) + "V" + level(below[to-1], top))
		for i := to - 1; i > from; i-- {
			if below[i-1] != below[i] {
				d.WriteString("H" + strconv.Itoa(i) + "V" + level(below[i-1], top))
			}
		}
		d.WriteString("H" + strconv.Itoa(from) + "Z")
		from = to
	}
	return d.String()
}

// level is the vertical position of a value, from above.
func level(value, top int) string { return strconv.Itoa(height - value*height/top) }

// open begins a picture of a width.
func open(text Text, class string, width int) *strings.Builder {
	var d strings.Builder
	id := html.EscapeString(text.ID)
	d.WriteString(`<svg class="chart ` + class + `" role="img" aria-labelledby="` + id + `-title ` + id +
		`-desc" viewBox="0 0 ` + strconv.Itoa(width) + ` ` + strconv.Itoa(height) +
		`" preserveAspectRatio="none" focusable="false"><title id="` + id + `-title">` + html.EscapeString(text.Title) +
		`</title><desc id="` + id + `-desc">` + html.EscapeString(text.Description) + `</desc>`)
	return &d
}

// Segment is a piece of a lane: the class of its colour, what it stands for, and from where
// to where it goes, as parts of the width between 0 and 1.
type Segment struct {
	Class, Title string
	From, To     float64
}

// Lanes draws bars below each other, each of segments that follow one another.
func Lanes(text Text, lanes [][]Segment) string {
	const width, gap = 10_000, 60
	d := open(text, "lanes", width)
	for i, lane := range lanes {
		y := i * height / len(lanes)
		for _, s := range lane {
			from, to := int(s.From*width), int(s.To*width)
			d.WriteString(`<rect class="` + html.EscapeString(s.Class) + `" x="` + strconv.Itoa(from) + `" y="` +
				strconv.Itoa(y+gap) + `" width="` + strconv.Itoa(max(to-from, 1)) +
				`" height="` + strconv.Itoa(height/len(lanes)-2*gap) + `"><title>` + html.EscapeString(s.Title) + `</title></rect>`)
		}
	}
	d.WriteString("</svg>")
	return d.String()
}
