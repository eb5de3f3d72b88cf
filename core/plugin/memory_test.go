//go:build unix

package plugin

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// inUse is what the heap and the stacks of this process occupy.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // the second frees what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestHostMemoryPerPlugin: one more plugin that runs costs the host no more than 1 MB.
func TestHostMemoryPerPlugin(t *testing.T) {
	const plugins = 6
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	copyPlugin(t, opt.Dir, "many0") // what the first one costs once is not counted
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	run := func(name string) {
		t.Helper()
		s, err := configure(t, h, pluginclient.Instance{ID: "trigger." + name + ".a", Kind: kind.Trigger, Type: name})
		must(t, err)
		must(t, s.Trigger("trigger."+name+".a").Run(t.Context(), trigger.Request{}))
	}
	run("many0")
	before := inUse()
	for n := 1; n <= plugins; n++ {
		copyPlugin(t, opt.Dir, fmt.Sprint("many", n))
	}
	must(t, h.Discover(t.Context()))
	for n := 1; n <= plugins; n++ {
		run(fmt.Sprint("many", n))
	}
	each := (inUse() - before) / plugins
	t.Logf("each plugin costs the host %d KB", each>>10)
	if each > 1<<20 {
		t.Errorf("each plugin costs the host %d KB, want at most 1024", each>>10)
	}
}
