package store

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"
)

func owners(t *testing.T, s interface {
	TypeOwners(ctx context.Context, each func(typ, bundle, key string)) error
}) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, s.TypeOwners(t.Context(), func(typ, bundle, key string) { all[typ] = bundle + " " + key }))
	return all
}

func TestTypeOwnersLast(t *testing.T) {
	s := fresh(t)
	for _, step := range []struct {
		typ, bundle, key string
		want             map[string]string
	}{
		{"trigger.lamp", "lamp", "RWQ", map[string]string{"trigger.lamp": "lamp RWQ"}},
		{"watcher.lamp", "other", "", map[string]string{"trigger.lamp": "lamp RWQ", "watcher.lamp": "other "}},
		{"trigger.lamp", "other", "", map[string]string{"trigger.lamp": "other ", "watcher.lamp": "other "}},
		{"watcher.lamp", "", "", map[string]string{"trigger.lamp": "other "}},
	} {
		must(t, s.SetTypeOwner(t.Context(), step.typ, step.bundle, step.key))
		s = again(t, s)
		if got := owners(t, s); !maps.Equal(got, step.want) {
			t.Errorf("after %+v: %v", step, got)
		}
	}
	if got := owners(t, reader(t, s.Path())); len(got) != 1 {
		t.Errorf("a reader finds %v", got)
	}
}

func TestPluginDescriptionsOfABuild(t *testing.T) {
	now := start
	s := fresh(t, func(o *Options) { o.Now = func() time.Time { return now } })
	ctx := t.Context()
	said := func(sum byte, build, want string) {
		t.Helper()
		if doc, err := s.PluginDescription(ctx, []byte{sum}, build); err != nil || string(doc) != want {
			t.Errorf("%d by build %s: %q, %v; want %q", sum, build, doc, err, want)
		}
	}
	said(1, "1", "")
	must(t, s.SavePluginDescription(ctx, []byte{1}, "1", []byte("first")))
	said(1, "1", "first")
	said(1, "2", "") // another build asks again
	said(2, "1", "") // and so does another file
	must(t, s.SavePluginDescription(ctx, []byte{1}, "2", []byte("second")))
	said(1, "2", "second")
	for n := range maxDescriptions {
		now = now.Add(time.Second)
		must(t, s.SavePluginDescription(ctx, fmt.Append(nil, "file", n), "2", []byte("more")))
	}
	said(1, "2", "") // the oldest goes
}

// TestReaderOfAnEarlierVersion: a command that reads a file that is not brought up to date finds nothing.
func TestReaderOfAnEarlierVersion(t *testing.T) {
	s := fresh(t)
	must(t, s.SetTypeOwner(t.Context(), "trigger.lamp", "lamp", ""))
	r := reader(t, s.Path())
	r.version = pluginTypes - 1
	if got := owners(t, r); len(got) > 0 {
		t.Errorf("owners %v", got)
	}
	if doc, err := r.PluginDescription(t.Context(), []byte{1}, "1"); doc != nil || err != nil {
		t.Errorf("a description %q, %v", doc, err)
	}
}
