package e2e

import (
	"io"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// listReads is how often the list of containers is read to know its 99th percentile.
const listReads = 1000

// benchLatency is how long a simulated registry takes for an answer.
const benchLatency = 30 * time.Millisecond

// benchSleep has plugins fall asleep sooner than they usually do, and later than a benchmark needs them again.
const benchSleep = "DOGWATCH_PLUGINS_SLEEP=10s"

// rest waits until plugins have fallen asleep, if they do, and the others have given back what only a check needs.
func (d *daemon) rest() { time.Sleep(12 * time.Second) }

// BenchmarkProgram runs the built program in front of simulated engines and
// registries, 30 ms away, from its start to its second check. Each iteration
// is a new installation; the figures are medians over all iterations, and
// docs/benchmarks.md says what they mean.
func BenchmarkProgram(b *testing.B) {
	for _, s := range []scene{
		{containers: 200, latency: benchLatency},
		{containers: 200, latency: benchLatency, mixed: true},
		{containers: 1000, latency: benchLatency},
		{containers: 1000, latency: benchLatency, mixed: true},
	} {
		b.Run(s.String(), func(b *testing.B) {
			if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
				b.Skip("this system does not tell how much memory processes have")
			}
			path, err := built()
			must(b, err)
			program, err := os.Stat(path)
			must(b, err)
			m := medians{}
			for range b.N {
				measure(b, s, m)
			}
			m.report(b)
			b.ReportMetric(float64(program.Size())/(1<<20), "MB-program")
		})
	}
}

// measure runs a new installation once and notes its figures.
func measure(b *testing.B, s scene, m medians) {
	f := s.fleet(b)
	in := installScene(b, f)
	in.env = append(in.env, benchSleep)

	started := time.Now()
	d := in.start()
	d.containers()
	m.add("ms-to-answer", milliseconds(time.Since(started)))
	end := d.checked(started)
	m.add("ms-to-check", milliseconds(d.began().Sub(started)))
	m.add("ms/check-first", took(b, end.Check.Took))
	if end.Check.Containers != s.containers || end.Check.Failed != 0 {
		b.Fatalf("the first check: %+v", *end.Check)
	}
	first, memory := f.counts(), d.memory()
	used := d.cpuAtRest()
	m.add("cpu-ms/check-first", milliseconds(used))

	m.add("ms/check-next", took(b, d.check().Check.Took))
	next := f.counts()
	memory = max(memory, d.memory())
	m.add("cpu-ms/check-next", milliseconds(d.cpuAtRest()-used))
	m.add("requests/first", float64(first.Total))
	m.add("requests/next", float64(next.Total))
	m.add("manifestGETs", float64(first.Manifests+next.Manifests))
	m.add("maxinflight/host", float64(max(first.MaxInFlight, next.MaxInFlight)))

	m.add("ms/list-p99", d.listing(b))
	m.add("MB-anon", max(memory, d.memory()))
	d.check()
	d.rest()
	m.add("MB-anon-rest", d.memory())
	woken := time.Now()
	if status, body := d.request(http.MethodPost, "/api/triggers/http/sink", `{"id":"1","name":"c"}`); status != http.StatusOK {
		b.Fatalf("the trigger cannot run: %d %s", status, body)
	}
	m.add("ms-to-wake", milliseconds(time.Since(woken)))
	f.counts()
	m.add("ms/check-woken", took(b, d.check().Check.Took))
	m.add("requests/woken", float64(f.counts().Total))
	d.stop()
}

// listing reads the list of containers over and over and returns the 99th
// percentile of the time it takes, in milliseconds.
func (d *daemon) listing(b *testing.B) float64 {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	var all []time.Duration
	for range listReads {
		began := time.Now()
		resp, err := client.Get(d.url + "/api/containers")
		must(b, err)
		_, err = io.Copy(io.Discard, resp.Body)
		must(b, err)
		resp.Body.Close()
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return milliseconds(all[len(all)*99/100])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// took reads the duration that a check reports, in milliseconds.
func took(b *testing.B, text string) float64 {
	d, err := time.ParseDuration(text)
	must(b, err)
	return milliseconds(d)
}

// medians collects figures and reports the median of each.
type medians map[string][]float64

func (m medians) add(unit string, v float64) { m[unit] = append(m[unit], v) }

func (m medians) report(b *testing.B) {
	for unit, all := range m {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
	b.ReportMetric(0, "ns/op") // an iteration takes as long as what is asked of it
}
