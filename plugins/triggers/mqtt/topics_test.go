package mqtt

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestSegment(t *testing.T) {
	for name, want := range map[string]string{
		"nginx": "nginx", "my.app": "my-app", "a.b.c": "a-b-c", "a_b-C9": "a_b-C9", "a/b": "a-b", "a+b#c": "a-b-c",
		"":             "unknown",
		"tab\tnul\x00": "tab-nul-", "bro\xffken": "bro-ken", "\u202eright": "-right", "sp ace": "sp ace", "ünï": "ünï",
		strings.Repeat("é", 150): strings.Repeat("é", 100),
	} {
		if got := segment(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestTopicsAreDistinct(t *testing.T) {
	of := func(watcher string, names ...string) (cs []sdk.Container) {
		for _, n := range names {
			cs = append(cs, sdk.Container{ID: watcher + n, Watcher: watcher, Name: n})
		}
		return cs
	}
	for name, test := range map[string]struct {
		names names
		cs    []sdk.Container
		want  []string
	}{
		"plain": {names{root: "t"}, of("local", "a", "b.c"), []string{"t/local/a", "t/local/b-c"}},
		"same name": {names{root: "t"}, slices.Concat(of("local", "a"), of("remote", "a")),
			[]string{"t/local/a", "t/remote/a"}},
		"alike": {names{root: "t"}, of("local", "my.app", "my-app"),
			[]string{"t/local/my-app" + suffix("local/my.app"), "t/local/my-app"}},
		"alike and odd": {names{root: "t"}, of("local", "a/b", "a.b"),
			[]string{"t/local/a-b" + suffix("local/a/b"), "t/local/a-b"}},
		"alike as entities": {names{root: "t"}, of("local", "é", "è"),
			[]string{"t/local/é" + suffix("local/é"), "t/local/è"}},
		"taken": {names{root: "t", reserved: true}, of("local", "running"),
			[]string{"t/local/running" + suffix("running")}},
		"free without hass":  {names{root: "t"}, of("local", "running"), []string{"t/local/running"}},
		"without a name":     {names{root: "t"}, []sdk.Container{{}}, []string{"t/unknown/unknown"}},
		"of an odd watcher":  {names{root: "t"}, of("a/b", "c"), []string{"t/a-b/c"}},
		"with a root of two": {names{root: "a/b"}, of("local", "c"), []string{"a/b/local/c"}},
	} {
		if got := test.names.containers(test.cs); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Topics are legal, distinct, and the same whatever else there is and in whatever order, unless names are alike.
func FuzzNames(f *testing.F) {
	f.Add("my.app", "my-app", "a/b")
	f.Add("", "\xff", "+/#")
	f.Add("running", "x\x00", strings.Repeat("long", 100))
	f.Fuzz(func(t *testing.T, a, b, c string) {
		n := names{root: "wud/container", reserved: true}
		var cs []sdk.Container
		for _, name := range []string{a, b, c} {
			if !slices.ContainsFunc(cs, func(c sdk.Container) bool { return c.Name == name }) {
				cs = append(cs, sdk.Container{ID: name, Watcher: "local", Name: name})
			}
		}
		topics := n.containers(cs)
		entities := map[string]bool{}
		for _, topic := range topics {
			if strings.ContainsAny(topic, "+#\x00") || strings.Count(topic, "/") != 3 || !utf8.ValidString(topic) ||
				strings.HasSuffix(topic, "/") {
				t.Errorf("%q is no topic for a container", topic)
			}
			entities[entity(topic)] = true
		}
		if len(entities) != len(cs) {
			t.Errorf("%q share entities: %q", []string{a, b, c}, topics)
		}
		slices.Reverse(cs)
		again := n.containers(cs)
		slices.Reverse(again)
		if !slices.Equal(topics, again) {
			t.Errorf("in another order %q are %q", topics, again)
		}
	})
}
