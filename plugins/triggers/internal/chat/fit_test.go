package chat

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFitEndsBetweenContainers: a list that is cut has whole items, and says how many are missing.
func TestFitEndsBetweenContainers(t *testing.T) {
	const batch = "- web 1 → 2\nhttps://notes\n\n- db 1 → 2\n\n- cache 1 → 2\n"
	const summary = "Did not work:\n- web: no\n\nOffered:\n- db: 1 → 2\n- cache: 1 → 2\n- and 7 more"
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{batch, 100, batch},
		{batch, 51, "- web 1 → 2\nhttps://notes\n\n- db 1 → 2\n\n… and 1 more"},
		{batch, 49, "- web 1 → 2\nhttps://notes\n\n… and 2 more"},
		{batch, 30, "- web 1 → 2\nhtt…\n\n… and 2 more"},
		{batch, 14, "- web 1 → 2\nh…"},
		{batch, 0, ""},
		{summary, 70, "Did not work:\n- web: no\n\nOffered:\n- db: 1 → 2\n\n… and 8 more"},
		{summary, 60, "Did not work:\n- web: no\n\nOffered:\n- db: 1 → 2\n\n… and 8 more"},
		{summary, 50, "Did not work:\n- web: no\n\n… and 9 more"},
	} {
		fits := func(s string) bool { return utf8.RuneCountInString(s) <= test.limit }
		if got := Fit(test.text, fits); got != test.want {
			t.Errorf("within %d: %q, want %q", test.limit, got, test.want)
		}
	}
}

// TestFitCountsEveryContainer: also where what was cut is cut again.
func TestFitCountsEveryContainer(t *testing.T) {
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("- container-%d can be updated\n", i))
	}
	text := strings.Join(all, "\n")
	for _, limits := range [][]int{{4000}, {9000, 4000}, {4000, 700, 100}} {
		got := text
		for _, limit := range limits {
			got = FitBytes(got, limit)
			if len(got) > limit {
				t.Fatalf("%d bytes, want %d at most", len(got), limit)
			}
		}
		kept := strings.Count(got, "can be updated")
		if want := fmt.Sprintf("\n\n… and %d more", 300-kept); kept == 0 ||
			!strings.HasSuffix(got, "can be updated"+want) {
			t.Errorf("%v: %d are kept, and it ends with %q", limits, kept, got[max(0, len(got)-60):])
		}
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abcd", 1, "…"}, {"abcd", 0, ""},
		{"ab🐕cd", 6, "ab🐕cd"}, {"ab🐕cd", 5, "ab🐕…"}, {"ab🐕cd", 4, "ab…"}, {"🐕🐕", 2, "…"}, {"éé", 1, "…"},
	}
	for _, test := range tests {
		if got := Fit(test.text, func(s string) bool { return Units(s) <= test.limit }); got != test.want {
			t.Errorf("%q in %d units: %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("ab🐕cd", 4)
	f.Add("- one\n\n- two\n\n- three\n", 20)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		text, limit = strings.ToValidUTF8(text, ""), limit&0xFF
		fits := func(s string) bool { return Units(s) <= limit }
		got := Fit(text, fits)
		begun, _, _ := strings.Cut(got, "\n\n… and ")
		kept, cut := strings.CutSuffix(begun, "…")
		list := len(itemsOf(text)) > 1
		switch {
		case !fits(got) || !utf8.ValidString(got):
			t.Errorf("%q does not fit %d", got, limit)
		case fits(text) && got != text:
			t.Errorf("%q was cut", text)
		case !fits(text) && limit > 0 && !cut && !list:
			t.Errorf("%q does not show that it was cut", got)
		case !fits(text) && limit > 0 && (!strings.HasPrefix(text, kept) || !list && Units(got) < limit-1):
			t.Errorf("%q is not the longest beginning of %q within %d", got, text, limit)
		}
	})
}

func TestFitJSONCutsTextToTheLimitOfTheMessage(t *testing.T) {
	type message struct{ Title, Body string }
	with := func(text string) message { return message{"t", text} }
	for text, want := range map[string]string{
		"short": "short", strings.Repeat("a", 100): strings.Repeat("a", 14) + "…", strings.Repeat("\"", 100): strings.Repeat("\"", 7) + "…",
	} {
		if m, err := FitJSON(text, 40, with); err != nil || m.Body != want || m.Title != "t" {
			t.Errorf("%q, %v, want %q", m.Body, err, want)
		}
	}
	if _, err := FitJSON("text", 40, func(string) any { return func() {} }); err == nil {
		t.Error("what is no JSON was accepted")
	}
}
