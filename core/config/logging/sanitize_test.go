package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/visible"
)

// forgeries are what others may write into names, labels and errors.
var forgeries = []string{
	"x\n2026-01-01T00:00:00.000Z [ERROR] auth: login failed: client=10.0.0.1",
	"x\r\n2026-01-01T00:00:00.000Z [ERROR] auth: login failed",
	"x\r2026-01-01T00:00:00.000Z [ERROR] auth: login failed",
	"x\n{\"@level\":\"error\",\"@message\":\"login failed\"}",
	"\x1b[2J\x1b]0;title\x07", "csi \u009b2J", "del \x7f", "nul \x00",
	"user \u202e1.2 \u2066abc\u2069\u202c \u200f \u061c", "next\u2028line\u0085feed", "tag \U000e0041",
	"selector \ufe00 \U000e0100", "filler \u3164\u115f\uffa0\u034f",
	"bytes \xff\x9b2J",
}

// TestLogCannotBeForged logs each forgery as message, key, value, error, name and
// in lists, in both formats: every line is an entry of ours or indented, and
// nothing commands the terminal.
func TestLogCannotBeForged(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		for _, bad := range forgeries {
			var out bytes.Buffer
			log, err := New(Options{Level: "trace", Format: format, Output: &out, Redactor: &Redactor{}})
			if err != nil {
				t.Fatal(err)
			}
			entries := []func(l hclog.Logger){
				func(l hclog.Logger) { l.Info(bad) },
				func(l hclog.Logger) { l.Info("m", bad, "value") },
				func(l hclog.Logger) { l.Info("m", "key", bad, "after", 1) },
				func(l hclog.Logger) { l.Info("m", "error", errors.New(bad)) },
				func(l hclog.Logger) { l.Info("m", "list", []string{bad}, "any", map[string]string{bad: bad}) },
				func(l hclog.Logger) { l.With(bad, bad).Named(bad).Info("m") },
				func(l hclog.Logger) { l.Info("m", bad) },
				func(l hclog.Logger) { l.StandardLogger(nil).Print(bad) },
				func(l hclog.Logger) { l.Info("m", "stack", hclog.CapturedStacktrace(bad)) },
			}
			for _, entry := range entries {
				entry(log)
			}
			begun := 0
			for line := range strings.Lines(out.String()) {
				if strings.IndexFunc(line, func(c rune) bool {
					return (!unicode.IsGraphic(c) || visible.Hidden(c)) && c != '\n' && c != '\t'
				}) >= 0 {
					t.Errorf("%s: %q is in the line %q", format, bad, line)
				}
				switch {
				case format == "json":
					var parsed map[string]any
					if err := json.Unmarshal([]byte(line), &parsed); err != nil || parsed["@level"] != "info" {
						t.Errorf("%q makes the line %q: %v", bad, line, err)
					}
					begun++
				case line[0] != ' ':
					begun++
				}
			}
			if begun != len(entries) {
				t.Errorf("%s: %q makes %d entries of %d:\n%s", format, bad, begun, len(entries), out.String())
			}
		}
	}
}

// TestJSONKeepsTheText: escapes in the JSON format stand for the text itself.
func TestJSONKeepsTheText(t *testing.T) {
	for _, bad := range forgeries {
		var out bytes.Buffer
		log, err := New(Options{Format: "json", Output: &out})
		if err != nil {
			t.Fatal(err)
		}
		log.Info(bad)
		var line map[string]string
		if err := json.Unmarshal(out.Bytes(), &line); err != nil ||
			line["@message"] != strings.ToValidUTF8(bad, "\ufffd\ufffd") &&
				line["@message"] != strings.ToValidUTF8(bad, "\ufffd") {
			t.Errorf("%q became %q, %v", bad, line["@message"], err)
		}
	}
}

func TestSanitize(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"plain, \tünïcödé 日本語 🐳 e\u0301": "plain, \tünïcödé 日本語 🐳 e\u0301",
		"two\nlines":            "two\nlines",
		"a\r\x1b[31m\u009b\x00": `a\u000d\u001b[31m\u009b\u0000`,
		"\u202eabc\u2028\ufeff": `\u202eabc\u2028\ufeff`,
		"\U000e0041":            `\udb40\udc41`,
		"\xff\ufffd":            "\ufffd\ufffd",
	} {
		if got := Sanitize(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func BenchmarkEntryWriter(b *testing.B) {
	line := []byte(fmt.Sprintf("2026-11-21T10:00:00.000Z [INFO]  check: checked container: container=%s\n", "local/nginx"))
	w := entryWriter{discard{}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}
