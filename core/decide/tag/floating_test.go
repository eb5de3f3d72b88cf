package tag

import (
	"strings"
	"testing"
)

func TestFloatsTagOfLessPrecision(t *testing.T) {
	for _, test := range []struct {
		current, tags string
		want          bool
	}{
		{"16-alpine", "16-alpine 16.4-alpine 17-alpine", true},
		{"16-alpine", "16.4.1-alpine", true},
		{"16-alpine", "16.4-alpine3.20 16.4-bookworm 16.4", false},
		{"16-alpine3.20", "16.4-alpine3.20", true},
		{"16-alpine3.20", "16.4-alpine3.21", false},
		{"16", "16.4", true},
		{"16", "16.4-alpine 160.1 1.16.4", false},
		{"16", "16.4-1", true}, // with a revision of its own
		{"16.4-alpine", "16-alpine 16.4-alpine 16.5-alpine", false},
		{"1.25", "1.25.3", true},
		{"1.25", "1.250.1", false},
		{"1.25.3", "1.25.3 1.25.4 1.25.3-1", false},
		{"v3", "v3.1.4", true},
		{"v3", "3.1.4", false},
		{"8.2-fpm", "8.2.12-fpm", true},
		{"8.2-fpm", "8.2.12-fpm-alpine", false},
		{"22.04", "22.04.1", true},
		{"2024", "2024.1", true},
		{"17-jdk17", "17.0.1-jdk21", false},
		{"3.0-rc1", "3.0.1-rc2 3.0.1", false},
		{"3.0", "3.0.1-rc1 3.0.1-rc", false},
		{"20240114", "20240114.1", false},
		{"noble-20240114", "noble-20240114.1", false},
		{"1.25-dev", "1.25.1-dev", true},
		{"latest", "latest.1 1.0", false},
		{"", "1.0 .1", false},
		{"16", "16.4.sig 16.x 16.", false},
		{"16", "", false},
	} {
		if got := Floats(test.current, strings.Fields(test.tags)); got != test.want {
			t.Errorf("%s among %q floats: %v", test.current, test.tags, got)
		}
	}
}

func BenchmarkFloats(b *testing.B) {
	tags := make([]string, 10_000)
	for i := range tags {
		tags[i] = strings.Repeat("1.", i%3) + "16.4-bookworm"
	}
	for b.Loop() {
		Floats("16-alpine", tags)
	}
}
