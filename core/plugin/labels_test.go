//go:build unix

package plugin

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// TestLabelsOfUnknownOrigin count as the image's, all of them.
func TestLabelsOfUnknownOrigin(t *testing.T) {
	h := newHost(t, testOptions(t))
	for typ, want := range map[string][]string{"probe": {"env"}, "attributing": nil} {
		id := "watcher." + typ + ".a"
		s, err := configure(t, h, pluginclient.Instance{ID: id, Kind: kind.Watcher, Type: typ})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Watcher(id).List(t.Context())
		if err != nil || len(all) != 1 || len(all[0].Labels) != 1 || !slices.Equal(all[0].ImageLabels, want) {
			t.Errorf("%s: %v, %+v", typ, err, all)
		}
	}
}

// TestTagsHaveTheNamesOfTags: what does not follow their grammar comes no further.
func TestTagsHaveTheNamesOfTags(t *testing.T) {
	h := newHost(t, testOptions(t))
	s, err := configure(t, h, pluginclient.Instance{ID: "registry.odd.a", Kind: kind.Registry, Type: "odd"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Registry("registry.odd.a").Tags(t.Context(), registry.Repository{Host: "odd.example", Name: "a"}, "")
	if err != nil || !slices.Equal(list.Tags, []string{"1.0", "latest"}) {
		t.Errorf("%q, %v", list.Tags, err)
	}
}
