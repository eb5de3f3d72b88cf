package main

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestMigrateWritesNothingDeprecated: of each deprecated option that there is, the one to be used instead is
// written, or none and why.
func TestMigrateWritesNothingDeprecated(t *testing.T) {
	tried := 0
	for _, typ := range allTypes() {
		for _, o := range append(component.HostOptions(typ.Kind), typ.Options...) {
			if o.Deprecated == "" {
				continue
			}
			tried++
			segments := []string{"WUD", string(typ.Kind), typ.Name, "main", o.Name}
			if typ.Kind == kind.Watcher {
				segments = []string{"WUD", string(typ.Kind), "main", o.Name}
			}
			name := strings.ToUpper(strings.ReplaceAll(strings.Join(segments, "_"), ".", "_"))
			result, err := newRewriter().File("dogwatch.env", []byte(name+"=true\n"))
			if err != nil {
				t.Fatal(err)
			}
			option := "_" + strings.ToUpper(strings.ReplaceAll(o.Name, ".", "_")) + "="
			for line := range strings.Lines(string(result.Text)) {
				if strings.HasPrefix(line, "DOGWATCH_") && strings.Contains(line, option) {
					t.Errorf("%s becomes %s, which is deprecated", name, line)
				}
			}
			if len(result.Findings) != 1 || result.Findings[0].Note == "" {
				t.Errorf("%s: %+v", name, result.Findings)
			}
		}
	}
	if tried < 3 {
		t.Errorf("%d options are deprecated", tried)
	}
	const token = "WUD_REGISTRY_HUB_PRIVATE_TOKEN=dckr_pat_x"
	result, err := newRewriter().File("dogwatch.env", []byte(token+"\n"))
	if want := "DOGWATCH_REGISTRY_HUB_PRIVATE_PASSWORD=dckr_pat_x\n"; err != nil || string(result.Text) != want {
		t.Errorf("%q, want %q", result.Text, want)
	}
	cfg, err := config.Load(config.Input{Environ: []string{"HOME=/h", token}, WatcherTypes: watcherTypes()})
	if err != nil {
		t.Fatal(err)
	}
	text, err := config.Native(cfg, schemaOf)
	if err != nil || strings.Contains(text, "token") || !strings.Contains(text, "password: dckr_pat_x") {
		t.Errorf("%v:\n%s", err, text)
	}
}
