package logging

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestRecent(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		redactor := new(Redactor)
		redactor.Add("hunter22")
		recent := NewRecent()
		log, err := New(Options{Format: format, Level: "debug", Output: io.Discard, Redactor: redactor, Recent: recent})
		if err != nil {
			t.Fatal(err)
		}
		log.Info("open http://localhost:3000")
		log.Named("check").Warn("check failed", "watcher", "local", "error", "401: hunter22")
		log.Named("plugin").Named("triggers").Debug("two\nlines \x1b[31m", "a", "b c")
		<-recent.Written()

		all, parts := recent.Entries(Filter{})
		if fmt.Sprint(parts) != "[check plugin]" || len(all) != 3 {
			t.Fatalf("%s: parts %v, entries %v", format, parts, all)
		}
		for i, want := range []Entry{
			{Level: "debug", Part: "plugin.triggers"}, {Level: "warn", Part: "check"},
			{Level: "info", Message: "open http://localhost:3000"},
		} {
			got := all[i]
			if got.At.IsZero() || got.Level != want.Level || got.Part != want.Part ||
				want.Message != "" && got.Message != want.Message {
				t.Errorf("%s: entry %d is %+v", format, i, got)
			}
		}
		text := fmt.Sprint(all)
		if strings.Contains(text, "hunter22") || strings.Contains(text, "\x1b") {
			t.Errorf("%s: a secret or an escape sequence is in %q", format, text)
		}
		if !strings.HasPrefix(all[1].Message, "check failed: ") || !strings.Contains(all[1].Message, "watcher=local") {
			t.Errorf("%s: %q", format, all[1].Message)
		}
		for _, tt := range []struct {
			filter Filter
			want   int
		}{
			{Filter{Part: "plugin"}, 1}, {Filter{Part: "plug"}, 0}, {Filter{Part: "plugin.triggers"}, 1},
			{Filter{Level: hclog.Info}, 2}, {Filter{Level: hclog.Error}, 0}, {Filter{Limit: 2}, 2},
		} {
			if got, _ := recent.Entries(tt.filter); len(got) != tt.want {
				t.Errorf("%s: %+v chooses %d entries, want %d", format, tt.filter, len(got), tt.want)
			}
		}
	}
}

// TestRecentIsBounded writes more than is kept, from several goroutines.
func TestRecentIsBounded(t *testing.T) {
	recent := NewRecent()
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for i := range 2 * recentMax {
				_, _ = fmt.Fprintf(recent, "2026-11-28T00:00:00.000Z [INFO]  part: entry %d %s\n", i, strings.Repeat("x", i))
			}
		})
	}
	writers.Wait()
	kept := 0
	for _, entry := range recent.entries {
		kept += len(entry)
		if len(entry) > entryMax {
			t.Fatalf("an entry of %d bytes", len(entry))
		}
	}
	if kept > recentBytes || kept != recent.bytes || len(recent.entries) > recentMax {
		t.Errorf("%d entries of %d bytes, counted as %d", len(recent.entries), kept, recent.bytes)
	}
	if _, err := recent.Write([]byte("of another program \xff")); err != nil {
		t.Fatal(err)
	}
	if last, _ := recent.Entries(Filter{Limit: 1}); last[0].Message != "of another program " {
		t.Errorf("the last entry is %+v", last[0])
	}
}
