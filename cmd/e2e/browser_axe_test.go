package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// axeSource is the program that looks for obstacles (see testdata/axe).
var axeSource = sync.OnceValues(func() (string, error) {
	source, err := os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js"))
	return string(source), err
})

// audit lists what keeps users from using the page, each with its weight, rule
// and element: what axe-core finds of any weight, by the named rules or by all.
func audit(b *tab, rules ...string) []string {
	b.t.Helper()
	if !js[bool](b, "typeof axe === 'object'") {
		source, err := axeSource()
		must(b.t, err)
		js[any](b, source+";undefined")
	}
	only, err := json.Marshal(rules)
	must(b.t, err)
	return js[[]string](b,
		`axe.run(document, {resultTypes: ['violations'], preload: false, runOnly: `+string(only)+
			` || undefined}).then(found => found.violations.flatMap(v =>
		v.nodes.slice(0, 5).map(n => v.impact + ': ' + v.id + ': ' + n.target.join(' ') + ': ' + (n.any.concat(n.all, n.none)[0] || {message: v.help}).message)))`,
		chromedp.EvalAwaitPromise)
}

// TestAxeAuditReportsFaults proves that the audit can fail.
func TestAxeAuditReportsFaults(t *testing.T) {
	t.Parallel()
	requireBrowser(t)
	b := openTab(t, "")
	b.open("data:text/html,<html lang=en><title>x</title><main><h1>x</h1><button></button></main>")
	found := audit(b)
	if len(found) != 1 {
		t.Fatalf("a button without a name: %q", found)
	}
	if want := "critical: button-name: button: "; len(found[0]) < len(want) || found[0][:len(want)] != want {
		t.Errorf("a button without a name is %q", found[0])
	}
}
