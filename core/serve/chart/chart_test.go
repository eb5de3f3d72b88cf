package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

var about = Text{ID: "x", Title: "Updates by size", Description: "3 <updates> & more"}

// golden compares a picture with the one that was looked at.
func golden(t *testing.T, name, got string) {
	t.Helper()
	wellFormed(t, got)
	file := filepath.Join("testdata", name+".svg")
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s: got %s\nwant %s", name, got, want)
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func TestStack(t *testing.T) {
	svg, top := Stack(about,
		[]Band{{"major", []int{0, 1, 1, 0, 2}}, {"minor", []int{2, 2, 0, 0, 2}}, {"never", []int{0, 0, 0, 0, 0}}})
	if top != 4 {
		t.Errorf("the top is %d, want 4", top)
	}
	golden(t, "stack", svg)
	svg, top = Stack(about, nil)
	if top != 0 {
		t.Errorf("the top of nothing is %d", top)
	}
	golden(t, "empty", svg)
}

func TestLanes(t *testing.T) {
	golden(t, "lanes",
		Lanes(about, [][]Segment{{{"major", `1.0 "x"`, 0, .5}, {"ok", "2.0", .5, 1}}, {{"ok", "2.0", .25, .25}}}))
}

// TestStackCoversItsValues reads the outlines back: at each step the bands cover as much as their values.
func TestStackCoversItsValues(t *testing.T) {
	move := regexp.MustCompile(`([MHV])(\d+)(?: (\d+))?|Z`)
	paths := regexp.MustCompile(`<path class="(\d+)" d="([^"]*)"`)
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		bands := make([]Band, 3)
		for i := range bands {
			bands[i] = Band{Class: strconv.Itoa(i), Values: make([]int, 30)}
			for j := range bands[i].Values {
				bands[i].Values[j] = max(0, rnd.IntN(8)-3)
			}
		}
		svg, top := Stack(about, bands)
		wellFormed(t, svg)
		covered := make([][]int, len(bands)) // twice the area over each step, by band
		for i := range covered {
			covered[i] = make([]int, 30)
		}
		for _, p := range paths.FindAllStringSubmatch(svg, -1) {
			band, _ := strconv.Atoi(p[1])
			x, y := 0, 0
			for _, m := range move.FindAllStringSubmatch(p[2], -1) {
				n, _ := strconv.Atoi(m[2])
				switch m[1] {
				case "M":
					x = n
					y, _ = strconv.Atoi(m[3])
				case "V":
					y = n
				case "H": // to the right along the upper line, to the left along the lower
					for ; x < n; x++ {
						covered[band][x] += height - y
					}
					for ; x > n; x-- {
						covered[band][x-1] -= height - y
					}
				}
			}
		}
		for i, b := range bands {
			for j, v := range b.Values {
				if got, want := covered[i][j], v*height/max(top, 1); got < want-1 || got > want+1 {
					t.Fatalf("seed %d: band %d covers %d at step %d, want %d: %s", seed, i, got, j, want, svg)
				}
			}
		}
	}
}
