package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// programsEnv names other built programs, as a list of paths, that BenchmarkTurns compares this one with.
const programsEnv = "DOGWATCH_BENCH_PROGRAMS"

// BenchmarkTurns runs programs of other commits and that of this one in turns, each in front of a
// fleet of its own, so that what else a machine does meets all of them alike. It logs the median of
// each figure, and that of its ratio to the same turn of the first program that is named, with the
// quartiles of the ratio.
func BenchmarkTurns(b *testing.B) {
	others := filepath.SplitList(os.Getenv(programsEnv))
	if len(others) == 0 {
		b.Skip("no other program is named in " + programsEnv)
	}
	own, err := built()
	must(b, err)
	programs := append(others, own)
	for _, s := range []scene{
		{containers: 200, latency: benchLatency},
		{containers: 200, latency: benchLatency, mixed: true},
		{containers: 1000, latency: benchLatency},
	} {
		b.Run(s.String(), func(b *testing.B) {
			all := make([]medians, len(programs))
			for i := range all {
				all[i] = medians{}
			}
			for b.Loop() {
				for i, program := range programs {
					s.turn(b, program, all[i])
				}
			}
			b.ReportMetric(0, "ns/op")
			b.Log("\n" + compared(programs, all))
		})
	}
}

// turn runs a new installation of a program once, and asks it for nothing that costs it time while it checks.
func (s scene) turn(b *testing.B, program string, m medians) {
	f := s.fleet(b)
	in := installScene(b, f)
	in.program, in.env = program, append(in.env, benchSleep)
	d := in.start()
	eventually(b, "the first check ends", func() bool { return len(d.checks()) > 0 })
	memory := d.memory()
	used := d.cpuAtRest()
	m.add("cpu-ms/check-first", milliseconds(used))
	m.add("requests/first", float64(f.counts().Total))
	d.watch()
	m.add("MB-anon", max(memory, d.memory()))
	m.add("cpu-ms/check-next", milliseconds(d.cpuAtRest()-used))
	m.add("requests/next", float64(f.counts().Total))
	checks := d.checks()
	m.add("ms/check-first", took(b, checks[0]))
	m.add("ms/check-next", took(b, checks[1]))
	d.rest()
	m.add("MB-anon-rest", d.memory())
	d.stop()
}

// checks returns how long the checks took that have finished, in their order: what the log says of each, since
// requests to the API would cost time while one goes on.
func (d *daemon) checks() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for line := range strings.Lines(d.log.String()) {
		var entry struct {
			Message string `json:"@message"`
			Took    string `json:"took"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "check finished" {
			all = append(all, entry.Took)
		}
	}
	return all
}

// compared is a table of the figures of each program, and their ratios to those of the first one. A row for each
// figure, as no more than ten lines of a benchmark's log are shown.
func compared(programs []string, all []medians) string {
	var table strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, program := range programs {
		fmt.Fprint(columns, "\t", filepath.Base(program))
	}
	for _, unit := range slices.Sorted(maps.Keys(all[0])) {
		fmt.Fprint(columns, "\n", unit)
		for i := range programs {
			ratios := slices.Clone(all[i][unit])
			for turn := range ratios {
				ratios[turn] /= all[0][unit][turn]
			}
			slices.Sort(ratios)
			figures := slices.Sorted(slices.Values(all[i][unit]))
			n := len(figures)
			fmt.Fprintf(columns, "\t%.1f", figures[n/2])
			if i > 0 {
				fmt.Fprintf(columns, " · %.2f (%.2f to %.2f)", ratios[n/2], ratios[n/4], ratios[n*3/4])
			}
		}
	}
	columns.Flush()
	return table.String()
}
