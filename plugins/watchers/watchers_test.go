package watchers

import (
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
)

func TestTypes(t *testing.T) {
	var names []string
	for _, typ := range Types() {
		names = append(names, typ.Name)
		if typ.Kind != kind.Watcher {
			t.Errorf("%s is a %s", typ.Name, typ.Kind)
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(names))); len(names) == 0 || !slices.Equal(names, sorted) {
		t.Errorf("%v are not in alphabetical order, or not all different", names)
	}
}
