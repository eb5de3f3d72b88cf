package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// What 1,000 slow clients of a kind may cost.
const (
	slowClients = 1000
	// slowMemory is the most that the host may take, in MiB.
	slowMemory = 100
	// slowHealth is how long the health of the server may take to tell. On a machine with
	// nothing else to do that is some 10 ms; without a bound on slow clients it times out.
	slowHealth = time.Second
)

// TestSlowClientsAreBounded opens 1,000 connections of each kind that make no progress,
// over the loopback interface only, and requires that the built program neither
// grows nor keeps others waiting.
func TestSlowClientsAreBounded(t *testing.T) {
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		plugintest.Skip(t, "proc", err)
	}
	f := newFleet(t, 100, registrysim.Options{})
	in := install(t,
		append(f.env(), "DOGWATCH_LOG_LEVEL=info", "DOGWATCH_TRIGGER_MOCK_MAIN=true", "GOMAXPROCS=2")...)
	const host = " HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
	reads := func(path string) string { return strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n", 2) }
	for _, kind := range []struct{ name, sends string }{
		{"header", "GET /health" + host + "X-Long: " + strings.Repeat("x", 30<<10)},
		{"unread body", "POST /health" + host + "Content-Length: 1000\r\n\r\n"},
		{"body of a login", "POST /auth/login" + host + "Content-Length: 1000\r\n\r\n"},
		{"form",
			"POST /login" + host + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n" +
				strings.Repeat("x", 90000)},
		{"body", "POST /api/triggers/mock/main" + host + "Content-Length: 100000\r\n\r\n" + strings.Repeat(" ", 90000)},
		{"reading a page", reads("/containers")},
		{"reading a large page", reads("/history")},
		{"reading the list", strings.Repeat(reads("/api/containers"), 4)},
		{"reading a compressed page", "GET /containers" + host + "\r\n"},
		{"reading metrics", reads("/metrics")},
		{"stream", "GET /api/events" + host + "Accept: text/event-stream\r\n\r\n"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			// A process of its own: what another kind has left behind is not what this one costs.
			d := in.start()
			t.Cleanup(d.stop) // once the clients have left
			d.checked(time.Now())
			before := anonymous(t, d.cmd.Process.Pid)
			for range slowClients {
				d.slow(t, kind.sends)
			}
			var most float64
			var took []time.Duration
			// First what they have asked for is answered, as far as it can be sent.
			for range 10 {
				most = max(most, anonymous(t, d.cmd.Process.Pid))
				time.Sleep(100 * time.Millisecond)
			}
			for range 11 {
				most = max(most, anonymous(t, d.cmd.Process.Pid))
				took = append(took, d.healthy(t))
				time.Sleep(50 * time.Millisecond)
			}
			slices.Sort(took)
			t.Logf("%.0f MiB before, %.0f at most; health in %v, at the longest %v", before, most, took[len(took)/2],
				took[len(took)-1])
			if most > slowMemory {
				t.Errorf("the host takes %.0f MiB, want %d at most", most, slowMemory)
			}
			if median := took[len(took)/2]; median > slowHealth {
				t.Errorf("the health takes %v to tell, want %v at most", median, slowHealth)
			}
		})
	}
}

// slow opens a connection that sends something and reads nothing of the answer.
func (d *daemon) slow(t *testing.T, sends string) {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var small error
		failed := c.Control(func(fd uintptr) {
			small = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
		return errors.Join(failed, small)
	}}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(conn, sends) // the server may have left
}

// healthy asks for the health over a connection of its own and returns how long that takes.
func (d *daemon) healthy(t *testing.T) time.Duration {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	began := time.Now()
	resp, err := client.Get(d.url + "/health")
	must(t, err)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(fmt.Sprint(resp.Status, err))
	}
	return time.Since(began)
}
