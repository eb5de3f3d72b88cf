package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestZZExplore(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	n := 200
	fmt.Sscan(os.Getenv("ZZN"), &n)
	s := scene{containers: n, latency: 30 * time.Millisecond}
	f := s.fleet(t)
	sink := httptest.NewServer(http.NotFoundHandler())
	defer sink.Close()
	in := installScene(t, f, sink.URL)
	for _, kv := range strings.Fields(os.Getenv("ZZENV")) {
		in.env = append(in.env, kv)
	}
	d := in.start()
	show := func(what string) {
		var total, anon, file float64
		line := ""
		for i, pid := range d.processes() {
			a, fl, byfile := rollup(pid)
			name := []string{"host", "p1", "p2", "p3"}[i]
			c, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			fl2 := strings.Split(strings.TrimRight(string(c), "\x00"), "\x00")
			name = fl2[len(fl2)-1]
			line += fmt.Sprintf("  %s: anon %.1f file %.1f |", name, a, fl)
			_ = byfile
			total += a + fl
			anon += a
			file += fl
		}
		t.Logf("%-12s total %.1f anon %.1f file %.1f %s", what, total, anon, file, line)
	}
	d.containers()
	show("started")
	e := d.checked()
	show("first " + e.Check.Took)
	e = d.check()
	show("next " + e.Check.Took)
	e = d.check()
	show("third " + e.Check.Took)
	for range 50 {
		d.containers()
	}
	show("list")
	time.Sleep(5 * time.Second)
	show("5s")
	if p := os.Getenv("ZZSLEEP"); p != "" {
		dd, _ := time.ParseDuration(p)
		t.Log(d.processes(), in.store)
		time.Sleep(dd)
		show("slept")
	}
	for _, pid := range d.processes() {
		smaps(t, pid)
	}
	d.mu.Lock()
	os.WriteFile("/tmp/zz.log", d.log.Bytes(), 0o644)
	d.mu.Unlock()
}

func rollup(pid int) (anon, file float64, by map[string]float64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		var k float64
		if n, _ := fmt.Sscanf(line, "Pss_Anon: %f", &k); n == 1 {
			anon = k / 1024
		}
		if n, _ := fmt.Sscanf(line, "Pss_File: %f", &k); n == 1 {
			file += k / 1024
		}
		if n, _ := fmt.Sscanf(line, "Pss_Shmem: %f", &k); n == 1 {
			file += k / 1024
		}
	}
	return
}

func smaps(t *testing.T, pid int) {
	fd, _ := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	defer fd.Close()
	sc := bufio.NewScanner(fd)
	head := ""
	out := ""
	for sc.Scan() {
		l := sc.Text()
		fs := strings.Fields(l)
		if strings.Contains(fs[0], "-") && !strings.HasSuffix(fs[0], ":") {
			name := ""
			if len(fs) > 5 {
				name = filepath.Base(fs[5])
			}
			head = fs[0] + " " + fs[1] + " " + name
		}
		var k int
		if n, _ := fmt.Sscanf(l, "Pss: %d", &k); n == 1 && k > 200 {
			out += fmt.Sprintf("%7d K %s\n", k, head)
		}
	}
	t.Logf("pid %d\n%s", pid, out)
}
