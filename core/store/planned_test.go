package store

import (
	"fmt"
	"testing"
	"time"
)

func TestPlannedImagesExpireAndAreFew(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	is := func(subject, reference, digest string, want bool) {
		t.Helper()
		got, err := s.Planned(t.Context(), subject, reference, digest)
		must(t, err)
		if got != want {
			t.Errorf("%s %s@%s: %t, want %t", subject, reference, digest, got, want)
		}
	}
	must(t, s.PutPlanned(t.Context(), "local/web", "nginx:1", "sha256:a"))
	is("local/web", "nginx:1", "sha256:a", true)
	is("local/web", "nginx:2", "sha256:a", false)
	is("local/web", "nginx:1", "sha256:b", false)
	is("local/db", "nginx:1", "sha256:a", false)
	now = start.Add(plannedFor)
	is("local/web", "nginx:1", "sha256:a", true)
	now = now.Add(time.Millisecond)
	is("local/web", "nginx:1", "sha256:a", false)
	for i := range 2 * maxPlanned {
		now = now.Add(time.Second)
		must(t, s.PutPlanned(t.Context(), "local/web", "nginx:1", fmt.Sprint("sha256:", i)))
	}
	must(t, s.PutPlanned(t.Context(), "local/db", "nginx:1", "sha256:a"))
	is("local/web", "nginx:1", fmt.Sprint("sha256:", maxPlanned-1), false)
	is("local/web", "nginx:1", fmt.Sprint("sha256:", maxPlanned), true)
	var rows int
	must(t, s.writer.QueryRow("SELECT count(*) FROM planned").Scan(&rows))
	if rows != maxPlanned+1 {
		t.Errorf("%d rows", rows)
	}
}
