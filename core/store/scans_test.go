package store

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

func TestScansAreBounded(t *testing.T) {
	s := fresh(t)
	report := bytes.Repeat([]byte("CVE"), 10_000)
	for i := range maxScans + 5 {
		must(t, s.PutScan(t.Context(), fmt.Sprint("sha256:", i), start.Add(time.Duration(i)*time.Minute), report))
	}
	for i, want := range map[int]bool{0: false, 4: false, 5: true, maxScans + 4: true} {
		got, at, found, err := s.Scan(t.Context(), fmt.Sprint("sha256:", i))
		if err != nil || found != want ||
			found && (!bytes.Equal(got, report) || !at.Equal(start.Add(time.Duration(i)*time.Minute))) {
			t.Errorf("%d: %d bytes of %v, %v, %v", i, len(got), at, found, err)
		}
	}
	var size int
	must(t, s.reader.QueryRow("SELECT max(length(body)) FROM scans").Scan(&size))
	if size > len(report)/10 {
		t.Errorf("a report takes %d bytes", size)
	}
}

func TestComparisonsAreStoredWithTheirEvents(t *testing.T) {
	s := fresh(t)
	ev := event.Event{
		At: start, Type: event.ScanFinished, Subject: "local/web",
		Payload: event.Payload{Scan: &event.Scan{Actor: "ana", Summary: "fixes none, adds none"}},
	}
	for i := range maxComparisons + 1 {
		must(t,
			s.PutComparison(t.Context(), fmt.Sprint("pair ", i), start.Add(time.Duration(i)*time.Minute),
				[]byte(fmt.Sprint(i)), ev))
	}
	var all []string
	must(t, s.Comparisons(t.Context(), func(images string, doc []byte) { all = append(all, images+"="+string(doc)) }))
	if len(all) != maxComparisons || all[0] != fmt.Sprintf("pair %d=%[1]d", maxComparisons) {
		t.Errorf("%d, the first %s", len(all), all[0])
	}
	if doc, found, err := s.Comparison(t.Context(), "pair 7"); err != nil || !found || string(doc) != "7" {
		t.Errorf("%s, %v, %v", doc, found, err)
	}
	if _, found, err := s.Comparison(t.Context(), "pair 0"); err != nil || found {
		t.Errorf("the oldest: %v, %v", found, err)
	}
	events, err := s.History(t.Context(), event.Filter{Types: []event.Type{event.ScanFinished}, Limit: 1})
	if err != nil || len(events) != 1 || events[0].Scan == nil || events[0].Scan.Actor != "ana" {
		t.Errorf("%+v, %v", events, err)
	}
	if err := s.PutComparison(t.Context(), "pair", start, []byte("{"), ev); err == nil {
		t.Error("what is no JSON was stored")
	}
}

func TestPruneForgetsScans(t *testing.T) {
	s := fresh(t)
	for name, at := range map[string]time.Time{"old": start.Add(-time.Hour), "new": start.Add(time.Hour)} {
		must(t, s.PutScan(t.Context(), name, at, []byte("{}")))
		must(t, s.PutComparison(t.Context(), name, at, []byte("{}")))
	}
	must(t, s.Prune(t.Context(), start))
	for name, want := range map[string]bool{"old": false, "new": true} {
		_, _, scan, err := s.Scan(t.Context(), name)
		_, comparison, failed := s.Comparison(t.Context(), name)
		if scan != want || comparison != want || err != nil || failed != nil {
			t.Errorf("%s: %v, %v, %v, %v", name, scan, comparison, err, failed)
		}
	}
}
