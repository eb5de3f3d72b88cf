package visible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLineAndText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"nginx":                                "nginx",
		"naïve Ünïcode 名前 שלום":                "naïve Ünïcode 名前 שלום",
		"a\u202eb\u2066c\u2069d\u200ee\u200ff": "abcdef",
		"a\u200bb\u200cc\u200dd\ufeffe\u061cf": "abcdef",
		"a\u2060b\u2064c\u180ed\u00ade":        "abcde",
		"a\u115fb\u1160c\u3164d\uffa0e\u034ff": "abcdef",
		"a\ufe00b\ufe0fc\U000e0100d":           "abcd",
		"a\U000e0041\U000e007f\U000e0001b":     "ab",
		"a\x00\x07\x1b[31mb\x7f\u009b2Jc":      "a[31mb2Jc",
		"\u0600\u06dd":                         "\u0600\u06dd", // signs of Arabic, which have a glyph
		"👩\u200d💻 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 1\ufe0f\u20e3 🙂\u200d↔\ufe0f ✔\ufe0e": "👩\u200d💻 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 1\ufe0f\u20e3 🙂\u200d↔\ufe0f ✔\ufe0e",
		"👩\u200d\u200d💻 👩\u200dx x\u200d👩 ❤\ufe0f\ufe0f\ufe0e":                                  "👩\u200d💻 👩x x👩 ❤\ufe0f",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%+q) = %+q, want %+q", in, got, want)
		}
		if got := Text(in); got != want {
			t.Errorf("Text(%+q) = %+q, want %+q", in, got, want)
		}
	}
	const lines = "a\r\nb\rc\u2028d\te\n"
	if got := Line(lines); got != "a b c d e " {
		t.Errorf("Line: %q", got)
	}
	if got := Text(lines); got != "a\nb\nc\nd\te\n" {
		t.Errorf("Text: %q", got)
	}
}

// TestHiddenHasTheKnownOnes names the ranges that must go, whatever the tables of Unicode say later.
func TestHiddenHasTheKnownOnes(t *testing.T) {
	for _, r := range [][2]rune{
		{0, 0x1f}, {0x7f, 0x9f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0x61c, 0x61c},
		{0x180e, 0x180e},
		{0xe0000, 0xe007f}, {0xfe00, 0xfe0f}, {0xe0100, 0xe01ef},
	} {
		for c := r[0]; c <= r[1]; c++ {
			if !Hidden(c) {
				t.Errorf("%U is not hidden", c)
			}
		}
	}
	for c := rune(' '); c < unicode.MaxRune; c++ {
		if Hidden(c) && unicode.In(c, unicode.N, unicode.P, unicode.Ll, unicode.Lu, unicode.So, unicode.Sm) {
			t.Errorf("%U is hidden", c)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"a\u202eb", "👩\u200d💻", "1\ufe0f\u20e3", "\u200d", "\xff\u200d\xff", "a\r\n\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, clean := range map[string]func(string) string{"Line": Line, "Text": Text} {
			got := clean(text)
			if again := clean(got); again != got {
				t.Errorf("%s(%+q) = %+q, and once more %+q", name, text, got, again)
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("%s(%+q) is no UTF-8", name, text)
			}
			if strings.ContainsAny(got, "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\x1b") ||
				name == "Line" && strings.ContainsAny(got, "\r\n\t") {
				t.Errorf("%s(%+q) = %+q", name, text, got)
			}
		}
	})
}
