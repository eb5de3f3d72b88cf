package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Holder is who holds a type; the zero Holder is none.
type Holder struct {
	// Builtin is true for a type that is built in; else Bundle is the third-party bundle.
	Builtin bool
	Bundle  string
	text    string
}

// String says it: "built in", or "held by trigger-lamp (not signed)"; "" for none.
func (h Holder) String() string { return h.text }

// Holders are who holds which type in a folder, by the records and by what is installed.
// Nothing is started to know that.
type Holders struct {
	builtins []Builtin
	all      map[string]owner
}

// ReadHolders reads who holds types. installed are as in Options; dir may not exist.
func ReadHolders(
	ctx context.Context, records Records, installed map[string]Installed, builtins []Builtin, dir string,
) (*Holders, error) {
	files, err := findBundles(dir)
	if err != nil {
		return nil, err
	}
	there := func(name string) bool {
		return slices.ContainsFunc(files, func(b bundle) bool { return b.name == name })
	}
	h := &Holders{builtins: builtins, all: map[string]owner{}}
	err = records.TypeOwners(ctx, func(typ, bundle, key string) {
		if there(bundle) {
			h.all[typ] = owner{bundle, key}
		}
	})
	for _, b := range files {
		for _, typ := range installed[b.name].Types {
			if _, taken := h.all[typ]; !taken {
				h.all[typ] = owner{b.name, installed[b.name].Key}
			}
		}
	}
	return h, err
}

// OnlyBuiltin are the holders of the types that are built in.
func OnlyBuiltin(builtins []Builtin) *Holders { return &Holders{builtins: builtins} }

// Of returns who holds a type, such as "trigger.lamp".
func (h *Holders) Of(typ string) Holder {
	if builtinWith(h.builtins, typ) != "" {
		return Holder{Builtin: true, text: "built in"}
	}
	if o, held := h.all[typ]; held {
		return Holder{Bundle: o.bundle, text: "held by " + o.String()}
	}
	return Holder{}
}

// MayHold says why a bundle may not hold types; nil when it may.
func (h *Holders) MayHold(bundle string, types []string) error {
	for _, typ := range types {
		switch by := h.Of(typ); {
		case by.Builtin:
			return fmt.Errorf("%s holds %s, which is built in: ask its publisher for one with a type of another name",
				bundle, typ)
		case by.Bundle != "" && by.Bundle != strings.TrimSuffix(bundle, ".exe"):
			return fmt.Errorf("%s holds %s, which is %s: remove that one first (dogwatch plugin remove %s)", bundle,
				typ, by, by.Bundle)
		}
	}
	return nil
}
