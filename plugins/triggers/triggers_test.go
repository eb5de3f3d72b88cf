package triggers

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestTypesAreInOrder(t *testing.T) {
	if !slices.IsSortedFunc(Types(), func(a, b trigger.Type) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("keep the types in alphabetical order")
	}
}

// The host reads these options for every trigger; a type cannot have its own.
func TestTypesDoNotUseOptionsOfTheHost(t *testing.T) {
	host := []string{"auto", "threshold", "mode", "once", "simpletitle", "simplebody", "batchtitle", "includebydefault"}
	for _, typ := range Types() {
		for _, o := range typ.Options {
			for _, name := range append([]string{o.Name}, o.Aliases...) {
				if slices.Contains(host, name) {
					t.Errorf("%s: %s is an option of the host", typ.Name, name)
				}
			}
		}
	}
}

// What does something, rather than say something, is not done twice.
func TestActionsAreAtMostOnce(t *testing.T) {
	actions := []string{"command", "docker", "dockercompose"}
	for _, typ := range Types() {
		if atMostOnce := typ.Guarantee == kind.AtMostOnce; atMostOnce != slices.Contains(actions, typ.Name) {
			t.Errorf("%s: delivery %s", typ.Name, typ.Guarantee)
		}
	}
}
