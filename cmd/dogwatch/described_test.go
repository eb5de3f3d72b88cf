package main

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestDescriptionsAreTranslated: each setting, and each option of a built-in type, is described in every language.
func TestDescriptionsAreTranslated(t *testing.T) {
	settings, err := option.Of[config.Settings]()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{} // where it is said, by the text
	note := func(where string, schema option.Schema) {
		for _, o := range schema {
			said[o.Help], said[o.Deprecated] = where+"."+o.Name, where+"."+o.Name
		}
	}
	note("settings", settings)
	for _, typ := range allTypes() {
		said[typ.Summary] = typ.Name
		note(string(typ.Kind)+"."+typ.Name, typ.Options)
		note(string(typ.Kind), hostOptions()[typ.Kind])
	}
	delete(said, "")
	if len(said) < 300 {
		t.Fatalf("only %d descriptions", len(said))
	}
	for _, in := range language.New().All() {
		areas, err := in.Keys()
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, keys := range areas {
			for _, key := range keys {
				known[key] = true
			}
		}
		for text, where := range said {
			if in.Translates() && !known[text] {
				t.Errorf("%s: %q has no translation into %s", where, text, in.Name)
			}
		}
	}
}
