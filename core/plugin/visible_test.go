package plugin

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestListedNamesAreReadable: what a watcher lists under a name that deceives is shown as what it is; ids
// and labels are data.
func TestListedNamesAreReadable(t *testing.T) {
	labels := map[string]string{"a": "\u202eb"}
	got := listed(watcher.Container{
		ID: "i\u200bd", Name: "web\u202egpj\x1b[2J", Status: "run\u2066ning", Labels: labels, Error: "no\nimage\u200f",
		Image: watcher.Image{Host: "ghcr\u200b.io", Name: "a/\ufeffb", Tag: "1.0\U000e0031"},
	}, "local")
	for have, want := range map[string]string{
		got.ID: "i\u200bd", got.Name: "webgpj[2J", got.Status: "running", got.Labels["a"]: "\u202eb",
		got.Error.Message:       "no image",
		got.Image.Registry.Host: "ghcr.io", got.Image.Name: "a/b", got.Image.Tag.Value: "1.0",
	} {
		if have != want {
			t.Errorf("%+q, want %+q", have, want)
		}
	}
}

func TestOnlyTagsAreListed(t *testing.T) {
	good := []string{"1.0", "latest", "v1.2.3-alpine_x", "_a", strings.Repeat("a", 128)}
	bad := []string{"", "1.0\u202e", "1.0\u200b", "\u2066", "a b", "a/b", ".a", "-a", "1.0\n", "é",
		strings.Repeat("a", 129)}
	if got := onlyTags(slices.Concat(bad, good, bad)); !slices.Equal(got, good) {
		t.Errorf("%q", got)
	}
	var described []registry.DescribedTag
	for _, name := range slices.Concat(bad, good) {
		described = append(described, registry.DescribedTag{Name: name})
	}
	if got := onlyDescribedTags(described); len(got) != len(good) || got[0].Name != good[0] {
		t.Errorf("%+v", got)
	}
}

func TestTypesAreReadable(t *testing.T) {
	types := []kind.Type{
		{Summary: "sends\u202e\nmail", DocsURL: "javascript:alert(1)", Options: []option.Option{{Help: "the \u200bhost"}}},
		{DocsURL: "https://example.org/docs"},
	}
	readableTypes(types)
	if got := types[0]; got.Summary != "sends\nmail" || got.DocsURL != "" || got.Options[0].Help != "the host" ||
		types[1].DocsURL != "https://example.org/docs" {
		t.Errorf("%+v", types)
	}
}
