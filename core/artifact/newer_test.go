package artifact_test

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/artifact"
)

func TestLookForNewer(t *testing.T) {
	s := newServed(t)
	file := lamp(write(t, script))
	first := s.push(t, "1.0.0", nil, file)
	s.push(t, "latest", nil, file)
	source := func(end string) artifact.Source {
		source, err := artifact.ParseSource(s.host + "/me/lamp" + end)
		must(t, err)
		return source
	}
	look := func(end, digest, want string) {
		t.Helper()
		got, err := artifact.LookForNewer(t.Context(), plain{}, source(end), digest)
		if want != "" {
			want = s.host + "/me/lamp:" + want
		}
		if err != nil || got.Ref != want {
			t.Errorf("newer than %s is %+v, %v; want %q", end, got, err, want)
		}
	}
	look(":1.0.0", first, "")
	s.push(t, "1.2.0", nil, lamp(write(t, script+"# 1.2.0")))
	s.push(t, "1.10.0", nil, lamp(write(t, script+"# 1.10.0")))
	s.push(t, "sha256-"+strings.Repeat("9", 64)+".sig", nil, file)
	look(":1.0.0", first, "1.10.0")
	look(":latest", first, "")
	look("@"+first, first, "")
	s.push(t, "latest", nil, lamp(write(t, script+"# 1.2.0")))
	look(":latest", first, "latest")
	if _, err := artifact.LookForNewer(t.Context(), plain{}, artifact.Source{File: "/lamp"}, first); err != nil {
		t.Error(err)
	}
	gone, err := artifact.ParseSource(s.host + "/me/none:1")
	must(t, err)
	if _, err := artifact.LookForNewer(t.Context(), plain{}, gone, first); err == nil || !strings.Contains(err.Error(), "the registry has no such artifact") {
		t.Errorf("a repository that is gone: %v", err)
	}
}
