package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/internal/wireplugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

const (
	// boundedMemory is the most anonymous memory that the host may take whatever a plugin answers, in MiB.
	boundedMemory = 100
	// boundedStore is the most that its store may then have, with all files of its database, in MiB.
	boundedStore = 8
)

// wirePlugin compiles the plugin that is written without the SDK.
var wirePlugin = sync.OnceValues(func() (string, error) {
	return build(filepath.Join("testdata", "wire"), "wire")
})

// installWire installs a wire plugin with a watcher and these faults.
func installWire(t *testing.T, how string) *installation {
	compiled, err := wirePlugin()
	must(t, err)
	dir := shortDir(t)
	hidden := filepath.Join(dir, ".wire") // which is no plugin itself
	copyFile(t, compiled, hidden)
	must(t, os.Chmod(hidden, 0o755))
	wireplugin.WriteFor(t, hidden, dir, "watcher-wire", "serves watcher "+how)
	return install(t, "DOGWATCH_PLUGINS_DIR="+dir, "DOGWATCH_LOG_LEVEL=info",
		"DOGWATCH_WATCHER_WIRE_MAIN_TYPE=wire", "DOGWATCH_WATCHER_WIRE_MAIN_URL=http://127.0.0.1:1/")
}

// residentAnonymous returns the memory of a process that is not that of files, in MiB; 0 when it has
// ended. It costs less than anonymous (proc_pid_status(5), "RssAnon").
func residentAnonymous(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}

// size returns what the files of a folder have, in MiB.
func size(t *testing.T, dir string) float64 {
	t.Helper()
	var sum int64
	must(t, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	}))
	return float64(sum) / (1 << 20)
}

// peak samples the anonymous memory of a daemon until it is stopped, and returns the most that it was.
func (d *daemon) peak() (stop func() float64) {
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		highest := 0.0
		for {
			highest = max(highest, residentAnonymous(d.cmd.Process.Pid))
			select {
			case <-done:
				most <- highest
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() float64 { close(done); return <-most }
}

// TestAnswersOfPluginsAreBounded has a watcher, in a process of its own, send more than the host
// takes: that is said in a sentence, nothing is stored, and the memory of the host stays below its bound.
func TestAnswersOfPluginsAreBounded(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		plugintest.Skip(t, "proc", err)
	}
	const refused = "watcher.wire.main: what the plugin answered to Watcher.List is refused: "
	for how, says := range map[string]string{
		"lists-50000":   refused + "it occupies more than 48 MiB",
		"lists-large":   refused + "it occupies more than 48 MiB",
		"lists-empty":   refused + "containers has more than 10000 entries",
		"lists-17-mib":  refused + "a message of it has more than 16777216 bytes",
		"writes-a-line": "100 MiB were written",
		"floods":        "100000 events were sent",
	} {
		t.Run(how, func(t *testing.T) {
			i := installWire(t, how)
			d := i.start()
			stop := d.peak()
			eventually(t, "the log has "+says, func() bool {
				d.mu.Lock()
				defer d.mu.Unlock()
				return strings.Contains(d.log.String(), says)
			})
			most, stored := stop(), size(t, i.store)
			t.Logf("%.0f MiB of anonymous memory at most, %.1f MiB stored", most, stored)
			if n := len(d.containers()); n != 0 {
				t.Errorf("%d containers are stored", n)
			}
			if most > boundedMemory {
				t.Errorf("the host takes %.0f MiB of anonymous memory, want %d at most", most, boundedMemory)
			}
			if stored > boundedStore {
				t.Errorf("the store has %.1f MiB, want %d at most", stored, boundedStore)
			}
		})
	}
}
