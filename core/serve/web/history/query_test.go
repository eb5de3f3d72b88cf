package history

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

func TestParseHistory(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		plugintest.Skip(t, "zoneinfo", err)
	}
	all := 0
	for _, topic := range topics {
		if topic.Name != failures {
			all += len(topic.types)
		}
	}
	for _, c := range []struct {
		query string
		want  event.Filter
		types int
		wrong int
	}{
		{"", event.Filter{}, all, 0},
		{"topic=updates", event.Filter{}, 2, 0},
		{"topic=nonsense", event.Filter{}, all, 1},
		{"watcher=local", event.Filter{Watcher: "local"}, 16, 0},
		{"watcher=local&topic=plugins", event.Filter{Watcher: "local"}, 1, 0},
		{"trigger=smtp.main&watcher=local", event.Filter{Subject: "smtp.main"}, 3, 0},
		{"trigger=smtp.main&topic=failures", event.Filter{Subject: "smtp.main"}, 1, 0},
		{"q=+nginx+", event.Filter{Text: "nginx"}, all, 0},
		{"since=2026-03-29&until=2026-03-29", event.Filter{
			Since: time.Date(2026, 3, 29, 0, 0, 0, 0, berlin), Until: time.Date(2026, 3, 30, 0, 0, 0, 0, berlin), // 23 hours
		}, all, 0},
		{"since=yesterday&until=2026-02-30", event.Filter{}, all, 2},
		{"before=17", event.Filter{Before: 17}, all, 0},
		{"before=-1", event.Filter{}, all, 0},
		{"before=x", event.Filter{}, all, 0},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, f, wrong := parseHistory(values, berlin)
		if len(f.Types) != c.types {
			t.Errorf("%s: %d types: %v", c.query, len(f.Types), f.Types)
		}
		if len(wrong) != c.wrong {
			t.Errorf("%s: %q", c.query, wrong)
		}
		if f.Watcher != c.want.Watcher || f.Subject != c.want.Subject || f.Text != c.want.Text || f.Before != c.want.Before ||
			!f.Since.Equal(c.want.Since) || !f.Until.Equal(c.want.Until) {
			t.Errorf("%s: got %+v", c.query, f)
		}
	}
}

func TestHistoryQueryRoundTrip(t *testing.T) {
	q := historyQuery{
		Topic: "updates", Watcher: "local", Trigger: "a.b", Text: "a&b=c #", Since: "2026-01-02", Until: "2026-02-03",
	}
	values, err := url.ParseQuery(strings.TrimPrefix(q.values("5"), "?"))
	if err != nil {
		t.Fatal(err)
	}
	back, _, _ := parseHistory(values, time.UTC)
	if q.before = "5"; back != q {
		t.Errorf("got %+v, want %+v", back, q)
	}
}

func FuzzHistoryQuery(f *testing.F) {
	f.Add("topic=updates&watcher=a&trigger=b&q=c&since=2026-01-01&until=2026-01-02&before=3")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		q, filter, _ := parseHistory(values, time.UTC)
		again, err := url.ParseQuery(strings.TrimPrefix(q.values(q.before), "?"))
		if err != nil {
			t.Fatalf("%q is no query: %v", q.values(q.before), err)
		}
		back, filter2, _ := parseHistory(again, time.UTC)
		if back != q || filter.Subject != filter2.Subject || filter.Watcher != filter2.Watcher ||
			!filter.Until.Equal(filter2.Until) {
			t.Errorf("%q: %+v became %+v", query, q, back)
		}
	})
}
