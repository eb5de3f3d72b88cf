package tag

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSelectionLeaps(t *testing.T) {
	for _, c := range []struct{ current, tags, leaps string }{
		{"1.2.2", "1.2.3 1.3.2 1.8.1259", "1.8.1259"},
		{"0.6.21", "0.6.23 5.33.2", "5.33.2"},
		{"1.7.5", "1.7.7 1.16.13 1.16", "1.16.13"},
		{"v1.5.2", "v1.10 v1.10.6", "v1.10.6"},
		{"1.8.0", "1.9.0 1.9.1 19.0.0", "19.0.0"},
		{"1.2.3", "1.2.4 1.2.1259", "1.2.1259"},
		{"2021.1.3", "2021.2.0 2022.1.0", ""},
		{"1.9.9", "2.0.0", ""},
		{"1.4.0", "1.5.0 1.6.0 1.7.0 1.8.0 1.9.0 1.10.0", ""},
		{"17.0.9", "17.0.10 21.0.1", ""},               // long-term support
		{"0.14.9", "0.14.10 15.0.0", "15.0.0"},         // a project that counts on like that
		{"0.14.9", "15.0.0 15.1.0 15.2.0 16.0.0", ""},  // and is on its way since then
		{"4.0.14.2939", "4.0.15.2941 4.0.14.3100", ""}, // build numbers
		{"1.2.3-ls45", "1.2.3-ls99", ""},
		{"20240101", "20260101", ""},
		{"22.04", "24.04", ""},
		{"10", "9007199254740991 11", ""}, // a date for all that is known
		{"latest", "1.0.0", ""},
	} {
		sel, err := mustCompile(t, Rules{}).Select(t.Context(), c.current, strings.Fields(c.tags))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(sel.Leaps, " "); got != c.leaps {
			t.Errorf("%s among %s: leaps %q, want %q", c.current, c.tags, got, c.leaps)
		}
	}
}

// Without a number left out, nothing leaps: the plain history of a project.
func TestPlainHistoryHasNoLeaps(t *testing.T) {
	tags := versions(40, 3, 2)
	for _, current := range tags {
		sel, err := mustCompile(t, Rules{}).Select(t.Context(), current, tags)
		if err != nil || len(sel.Leaps) > 0 {
			t.Fatalf("%s: %v, %v", current, sel.Leaps, err)
		}
	}
}

func TestRolling(t *testing.T) {
	for _, c := range []struct{ current, tags, want string }{
		{"1.25.3", "1.25.3 latest alpine", "latest"},
		{"v1.25.3", "v1.25.3 latest", "latest"},
		{"1.25.3", "1.25.3 stable", ""},
		{"1.25.3-alpine", "latest alpine", "alpine"},
		{"1.25.3-alpine", "latest alpine latest-alpine", "latest-alpine"},
		{"1.25.3-alpine3.19", "latest alpine", "alpine"},
		{"1.25.3-alpine3.19", "latest alpine alpine3.19", "alpine3.19"},
		{"1.25.3-ls45", "latest", "latest"},
		{"version-1.25.3", "latest", "latest"},
		{"server-1.25.3", "latest server-latest", "server-latest"},
		{"server-v1.25.3", "latest server", "server"},
		{"server-1.25.3", "latest", ""},
		{"php8.2-fpm", "latest fpm php-fpm", "php-fpm"},
		{"latest", "latest", ""},
	} {
		if got := Rolling(c.current, strings.Fields(c.tags)); got != c.want {
			t.Errorf("%s among %s: %q, want %q", c.current, c.tags, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for tag, versions := range map[string][2]string{ // those it names, and those it does not
		"1.3.2":        {"1.3.2 v1.3.2 1.3.2-alpine 1.3.2.4", "1.3.1 1.3 1.3.2-rc1 2 22.04"},
		"1.3.0":        {"1.3.0 1.3", "1.3.1"},
		"v1.3":         {"1.3 1.3.2", "1.4.0 1"},
		"1.3.2-alpine": {"1.3.2", "1.3.20"},
		"2.0.0-rc1":    {"2.0.0-rc1", "2.0.0 2.0.0-rc2"},
		"20240101":     {"20240101", "20240102 2024"},
		"latest":       {"", "1.3.2 latest"},
	} {
		for i, want := range []bool{true, false} {
			for version := range strings.FieldsSeq(versions[i]) {
				if Names(tag, version) != want {
					t.Errorf("%s names %s: %t", tag, version, !want)
				}
			}
		}
	}
}

// versions are those of a plain history.
func versions(majors, minors, patches int) (tags []string) {
	for major := range majors {
		for minor := range minors {
			for patch := range patches {
				tags = append(tags, fmt.Sprintf("%d.%d.%d", major, minor, patch))
			}
		}
	}
	slices.Reverse(tags)
	return tags
}
