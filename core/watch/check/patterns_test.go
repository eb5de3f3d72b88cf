package check

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/decide/decision"
	"github.com/dogwatch/dogwatch/sdk"
)

// hugePattern is what an image author may write into a label: Go's engine would write it
// out as a hundred megabytes.
var hugePattern = `(?:` + strings.Repeat(`.?`, 490) + `){0,1000}!`

// TestCheckRefusesHugePattern takes neither time nor memory for it, in a check and in an
// explanation, and leaves the other containers alone.
func TestCheckRefusesHugePattern(t *testing.T) {
	w := open(t)
	w.hub.tags["library/nginx"] = []string{"1.25.0", "1.26.0"}
	for i := range 20 {
		kind := []string{"tag.include", "tag.exclude", "tag.transform"}[i%3]
		w.engine.has(append(w.engine.list,
			container(fmt.Sprint("bad", i), "nginx:1.25.0", "wud."+kind+"="+hugePattern+" => $1"))...)
	}
	w.engine.has(append(w.engine.list, container("good", "nginx:1.25.0"))...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	w.run()
	why := w.Explain(t.Context(), w.get("id-bad0"))
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 50 || time.Since(start) > 5*time.Second {
		t.Errorf("takes %d MB and %s", mb, time.Since(start))
	}
	contains(t, "error", decision.Problem(w.get("id-bad1")), "label wud.tag.exclude: ", "repeat less")
	contains(t, "explanation", why.Error, "label wud.tag.include: ", "repeat less")
	if good := w.get("id-good"); good.Error != nil || !good.UpdateAvailable {
		t.Errorf("the other container: %+v", good)
	}
}

// TestCheckCompilesPatternsOnce for all containers with the same labels, and all checks.
func TestCheckCompilesPatternsOnce(t *testing.T) {
	w := open(t)
	c := sdk.Container{Labels: map[string]string{"dogwatch.tag.include": `^1\.`}}
	if a, b := w.labelsOf(c, true), w.labelsOf(c, true); a.Selector != b.Selector {
		t.Error("compiled twice")
	}
}
