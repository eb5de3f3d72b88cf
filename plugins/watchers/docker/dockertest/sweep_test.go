package dockertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/docker/docker/api/types/network"
)

// TestNoNetworkDeviceIsLeft: an engine that was killed and never started again leaves
// none, and what a killed test has left is removed by the next one.
func TestNoNetworkDeviceIsLeft(t *testing.T) {
	var device string
	exists := func() bool { // no device is known where there is no engine
		_, err := os.Stat(filepath.Join("/sys/class/net", device))
		return device != "" && err == nil
	}
	serve := func(t *testing.T) *Daemon {
		d := Start(t)
		made, err := d.API.NetworkCreate(t.Context(), "lan", network.CreateOptions{
			Driver: "bridge", IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: "10.98.77.0/24"}}},
		})
		check(t, err)
		if device = "br-" + made.ID[:12]; !exists() {
			t.Fatalf("%s does not exist", device)
		}
		return d
	}
	t.Run("killed engine", func(t *testing.T) { serve(t).Kill(t) })
	if exists() {
		t.Errorf("%s is left", device)
	}
	t.Run("killed test", func(t *testing.T) {
		d := serve(t)
		d.Kill(t)
		gone := exec.Command("true")
		check(t, gone.Run())
		check(t, os.WriteFile(filepath.Join(d.dir, ownerFile), []byte(strconv.Itoa(gone.Process.Pid)), 0o600))
		sweep(t)
		if _, err := os.Stat(d.dir); exists() || err == nil {
			t.Errorf("%s or %s is left", device, d.dir)
		}
	})
}
