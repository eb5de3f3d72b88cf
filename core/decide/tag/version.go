package tag

import (
	"strings"
)

// version is a text read as a version. Its strings are pieces of the text, numbers are
// decimal without leading zeros ("" is zero), and its slices are reused by the next
// read, so that reading many tags allocates nothing.
type version struct {
	prefix  string   // what stands before the numbers: "v", "version-"
	main    []string // the numbers: 1.25.0
	month   month    // whether they begin like 22.04, a year and a month
	date    int      // kind of date: digits of 20240115 or 2024011501, dashedDate, or 0
	rest    string   // what stands after the numbers, as written
	stage   stage    // stable, or how near to it
	count   []string // the numbers of the stage: 2 in rc.2
	family  []byte   // the suffix without stage, its numbers folded
	numbers []string // the folded numbers
	base    base     // which of them name the base, if the reading asks for it

	suffixVersions []numberRun // which of the folded numbers dots join
}

// reading says what a reader makes of the numbers of a suffix.
type reading struct {
	runtimes bool // numbers of runtimes and hosts name the family
	bases    bool // numbers of distributions name the base: alpine3.21, debian-11
	bare     bool // and so does a bare number after the version: the 18 of 3.1.14-18
}

// prerelease returns the first identifier of a prerelease for link templates: "rc" in
// 1.3.0-rc.1. As in WUD, any suffix of a three-part version counts, and one with an
// underscore or after a dot does not.
func (v *version) prerelease() string {
	rest, _, _ := strings.Cut(v.rest, "+")
	threePart := len(v.main) == 3 && v.date != dashedDate
	if (!threePart && v.stage.release()) || strings.Contains(rest, "_") || strings.HasPrefix(rest, ".") {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(rest, "-"), ".")
	if run, end := digits(id, 0); end == len(id) && end > 0 {
		return decimal(strings.TrimLeft(run, "0"))
	}
	return id
}

// numberRun is a run of numbers in a suffix that dots join: mostly the version of what else
// is in the image, as the 3.4 of 16-3.4 and the 0.3.0 of 14-vectorchord0.3.0.
type numberRun struct {
	start, end int // its place in the suffix
	from, to   int // its place among the numbers
}
