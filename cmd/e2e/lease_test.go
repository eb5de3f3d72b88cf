package e2e

import (
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/kubernetestest"
)

// says reports whether the log has a text.
func (d *daemon) says(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(d.log.String(), text)
}

// waits reports whether a daemon says that it is alive and waits.
func (d *daemon) waits() bool {
	status, body := d.request(http.MethodGet, "/api/health", "")
	return status == http.StatusOK && strings.Contains(string(body), `"waiting":true`)
}

// exit waits until a daemon ends and returns its code.
func (d *daemon) exit() int {
	d.t.Helper()
	eventually(d.t, "it ends", func() bool {
		select {
		case <-d.done:
			return true
		default:
			return false
		}
	})
	return d.cmd.ProcessState.ExitCode()
}

// TestLease: of two programs one waits, alive and not ready, until the other is killed, or ends; one that cannot renew
// the lease, or was suspended, ends by itself.
func TestLease(t *testing.T) {
	t.Parallel()
	cluster := kubernetestest.NewLeases(t, "tools", "dogwatch")
	env := []string{
		"DOGWATCH_LEASE_NAME=dogwatch", "DOGWATCH_LEASE_NAMESPACE=tools", "DOGWATCH_LEASE_DURATION=5s",
		"DOGWATCH_LEASE_KUBECONFIG=" + cluster.Kubeconfig, "DOGWATCH_WATCHER_LOCAL_SOCKET=/nowhere.sock",
	}
	started := func() *daemon { return install(t, env...).start() } // which waits, if only for a moment
	first := started()
	first.listens() // again, with the lease
	if first.waits() {
		t.Fatal("the first waits although it holds the lease")
	}
	second := started()
	holder := cluster.Holder()
	eventually(t, "the second says who holds the lease", func() bool { return second.says(holder) })
	if !second.waits() {
		t.Error("the second does not say that it waits")
	}
	for path, want := range map[string]int{"/health": 200, "/api/ready": 503, "/api/containers": 503, "/": 503} {
		status, body := second.request(http.MethodGet, path, "")
		if status != want || strings.Contains(string(body), holder) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for flag, want := range map[string]int{"--serving=false": 0, "--serving": 1} {
		program, err := built()
		must(t, err)
		cmd := exec.Command(program, "healthcheck", flag, "--url", second.url+"/api/health")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want || want == 1 && !strings.Contains(string(out), "waits for the lease") {
			t.Errorf("healthcheck %s: %d %s", flag, code, out)
		}
	}
	must(t, first.cmd.Process.Kill())
	second.listens()
	if second.waits() || cluster.Holder() == holder {
		t.Errorf("the second waits although the first was killed; %q holds the lease", cluster.Holder())
	}
	third := started()
	second.stop()
	third.listens()
	fourth := started()
	must(t, third.cmd.Process.Signal(syscall.SIGSTOP)) // as a machine that is suspended
	fourth.listens()
	must(t, third.cmd.Process.Signal(syscall.SIGCONT))
	if code := third.exit(); code != 1 || !third.says("since another Dogwatch may act") {
		t.Errorf("it ended with %d after it was suspended", code)
	}
	cluster.Refuse(http.StatusServiceUnavailable, "shutting down")
	lost := "the lease was lost: dogwatch in namespace tools could not be renewed for"
	if code := fourth.exit(); code != 1 || !fourth.says(lost) {
		t.Errorf("it ended with %d without the lease", code)
	}
}
