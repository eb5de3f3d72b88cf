package tag

import (
	"fmt"
	"testing"
)

// manyTags makes tags like those of a big repository: versions of several families,
// hashes, channels and dates.
func manyTags(n int) []string {
	tags := make([]string, 0, n)
	for i := 0; len(tags) < n; i++ {
		v := fmt.Sprintf("%d.%d.%d", i%40, i/40%60, i/2400)
		tags = append(tags, v, v+"-alpine3.19", v+"-rc1", "v"+v, fmt.Sprintf("sha-%07x", i),
			fmt.Sprintf("%d.0.%d-ls%d", i%40, i, i), fmt.Sprintf("%07xa", i))
	}
	return tags[:n]
}

// The rules of the benchmarks: none, patterns that run in linear time, and patterns that
// only the backtracking engine has.
var benchmarks = []struct {
	name    string
	current string
	rules   Rules
}{
	{"plain", "1.2.3-alpine3.18", Rules{}},
	{"include", "1.2.3", Rules{Include: `^\d+\.\d+\.\d+$`}},
	{"transform", "1.2.3", Rules{Transform: `^(\d+\.\d+)\.\d+$ => $1`}},
	{"all", "1.2.3", Rules{
		Include: `^v?\d+\.\d+\.\d+`, Exclude: `(alpine|beta|-ls\d+)`, Transform: `^v?(\d+\.\d+\.\d+).*$ => $1`,
	}},
	{"elsewhere", "latest-1.2.3", Rules{Include: `^\d+\.\d+\.\d+$`, Transform: `^latest-(.*)$ => $1`}},
	{"lookahead", "1.2.3", Rules{Include: `^(?!.*rc)\d+\.\d+\.\d+$`}},
	{"lookarounds", "1.2.3", Rules{
		Include: `^(?!.*rc)v?\d+\.\d+\.\d+`, Exclude: `(?<=\d)-(?:alpine|ls)`, Transform: `^v?(?=\d)(\d+\.\d+\.\d+).*$ => $1`,
	}},
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{1_000, 20_000, 300_000} {
		tags := manyTags(n)
		for _, c := range benchmarks {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				s := mustCompile(b, c.rules)
				b.ReportAllocs()
				for b.Loop() {
					if sel, err := s.Select(b.Context(), c.current, tags); err != nil || !sel.Newer {
						b.Fatal(sel, err)
					}
				}
			})
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	for _, n := range []int{20_000, 300_000} {
		tags := manyTags(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := mustCompile(b, Rules{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Explain(b.Context(), "1.2.3", tags); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
