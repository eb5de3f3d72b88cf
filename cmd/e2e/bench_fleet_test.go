package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// fleetReads is how often the list and the page of a large fleet are read.
const fleetReads = 300

// BenchmarkFleet runs the built program in front of 10,000 containers of 6,000 repositories, three registries that are
// 30 ms away, from its start to its second check, in turns with programs of other commits, as BenchmarkTurns does. The
// figures are medians over all iterations.
func BenchmarkFleet(b *testing.B) {
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		b.Skip("this system does not tell how much memory processes have")
	}
	own, err := built()
	must(b, err)
	s, programs := scene{containers: 10_000, repositories: 6_000, latency: benchLatency},
		append(filepath.SplitList(os.Getenv(programsEnv)), own)
	all := make([]medians, len(programs))
	for turn := range b.N {
		for i, program := range programs {
			if turn == 0 {
				all[i] = medians{}
			}
			s.readTurn(b, program, all[i])
		}
	}
	all[len(all)-1].report(b)
	if len(programs) > 1 {
		b.Log("\n" + compared(programs, all))
	}
}

// readTurn runs a new installation of a program once, and reads its list and its page.
func (s scene) readTurn(b *testing.B, program string, m medians) {
	in := installScene(b, s.fleet(b))
	in.program, in.env = program, append(in.env, benchSleep)
	d := in.start()
	eventually(b, "the first check ends", func() bool { return len(d.checks()) > 0 })
	memory, first := d.memory(), d.cpuAtRest()
	m.add("cpu-ms/check-first", milliseconds(first))
	d.watch()
	memory = max(memory, d.memory())
	m.add("cpu-ms/check-next", milliseconds(d.cpuAtRest()-first))
	checks := d.checks()
	m.add("ms/check-first", took(b, checks[0]))
	m.add("ms/check-next", took(b, checks[1]))
	m.add("ms/list-p99", d.reads(b, "/api/containers"))
	m.add("ms/page-p99", d.reads(b, "/containers"))
	m.add("MB-anon", max(memory, d.memory()))
	d.rest()
	m.add("MB-anon-rest", d.memory())
	d.stop()
}

// reads reads a path over and over and returns the 99th percentile of the time until it is there, in milliseconds.
func (d *daemon) reads(b *testing.B, path string) float64 {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	var all []time.Duration
	for range fleetReads {
		began := time.Now()
		resp, err := client.Get(d.url + path)
		must(b, err)
		_, err = io.Copy(io.Discard, resp.Body)
		must(b, err)
		resp.Body.Close()
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return milliseconds(all[len(all)*99/100])
}
