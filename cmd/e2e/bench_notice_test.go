package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// noticePoll is how often the API is asked whether a change was noticed: by so much a figure may be too long.
const noticePoll = 10 * time.Millisecond

// BenchmarkNoticeFile measures how long a Dogwatch that serves takes until a plugin runs
// whose file is new (ms/new), until one runs whose changed file was trusted (ms/trusted),
// and until one is gone whose file was removed (ms/removed). Each is at most two seconds.
func BenchmarkNoticeFile(b *testing.B) {
	plugins, out := shortDir(b), b.TempDir()
	compiled, err := build(filepath.Join("..", "..", "examples", "trigger-file"), "trigger-file")
	must(b, err)
	d := install(b, "DOGWATCH_PLUGINS_DIR="+plugins,
		"DOGWATCH_TRIGGER_FILE_MAIN_PATH="+filepath.Join(out, "lines")).start()
	defer d.stop()
	m, slowest := medians{}, map[string]float64{}
	took := func(unit string, began time.Time, is func(all []noticed) bool) {
		for !is(get[[]noticed](d, http.MethodGet, "/api/plugins")) {
			if time.Since(began) > maxWait {
				b.Fatalf("never: %s", unit)
			}
			time.Sleep(noticePoll)
		}
		ms := float64(time.Since(began).Milliseconds())
		m.add(unit, ms)
		slowest[unit] = max(slowest[unit], ms)
	}
	for i := range b.N {
		name := fmt.Sprintf("trigger-file-%d", i) // another name, as the checksum of a file of this one is remembered
		path := filepath.Join(plugins, name)
		process := 0 // of the file before
		runs := func(all []noticed) bool {
			p, known := find(all, name)
			return known && p.State == "running" && p.Error == "" && p.PID != process
		}
		time.Sleep(time.Duration(i*137%700) * time.Millisecond) // anywhere between two looks at the folder
		copyFile(b, compiled, path+".new")
		must(b, os.Chmod(path+".new", 0o644)) // no plugin yet
		replaceFile(b, path)
		took("ms/new", time.Now(), runs)

		body, err := os.ReadFile(compiled)
		must(b, err)
		must(b, os.WriteFile(path+".new", append(body, "changed"...), 0o644))
		replaceFile(b, path)
		sum := ""
		eventually(b, "the changed file is noticed", func() bool {
			p, _ := find(get[[]noticed](d, http.MethodGet, "/api/plugins"), name)
			sum, process = p.SHA256, p.PID
			return p.Error != ""
		})
		began := time.Now()
		if status, text := d.request(http.MethodPost, "/api/plugins/"+name+"/trust",
			`{"sha256": "`+sum+`"}`); status/100 != 2 {
			b.Fatalf("trust: %d %s", status, text)
		}
		took("ms/trusted", began, runs)

		began = time.Now()
		must(b, os.Remove(path))
		took("ms/removed", began, func(all []noticed) bool { _, known := find(all, name); return !known })
	}
	for unit, ms := range slowest {
		b.ReportMetric(ms, unit+"-max")
	}
	m.report(b)
}

// noticed is a plugin as the API has it.
type noticed struct {
	Name, State, Error, SHA256 string
	PID                        int
}

func find(all []noticed, name string) (noticed, bool) {
	for _, p := range all {
		if p.Name == name {
			return p, true
		}
	}
	return noticed{}, false
}

// replaceFile puts path.new in the place of path, at once and executable.
func replaceFile(b *testing.B, path string) {
	b.Helper()
	must(b, os.Chmod(path+".new", 0o755))
	must(b, os.Rename(path+".new", path))
}
