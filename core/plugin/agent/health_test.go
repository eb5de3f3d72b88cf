package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestHealth of an agent: it runs, its controller refuses it, and takes it again.
func TestHealth(t *testing.T) {
	s := newSite(t)
	dir := s.join(t, "nas")
	if runs, err := Health(dir); runs || err != nil {
		t.Errorf("before: %t, %v", runs, err)
	}
	stop := s.host(t, dir, newEngine())
	s.lists(t, "nas")
	if runs, err := Health(dir); !runs || err != nil {
		t.Errorf("linked: %t, %v", runs, err)
	}
	s.relay.refuses.Store(true)
	s.relay.cut()
	if runs, err := Health(dir); !runs || err != nil {
		t.Errorf("the controller cannot be reached: %t, %v", runs, err)
	}
	s.relay.refuses.Store(false)
	s.lists(t, "nas")
	must(t, s.Revoke(t.Context(), "nas"))
	eventually(t, "it is not well", func() error {
		if runs, err := Health(dir); !runs || err == nil {
			return errors.New("it is well")
		}
		return nil
	})
	_, err := Health(dir)
	wants(t, "revoked", err, "knows no agent with this key")
	stop()
	if runs, err := Health(dir); runs || err != nil {
		t.Errorf("after: %t, %v", runs, err)
	}
}

// TestHealthOfAKilledAgent, whose file has stayed.
func TestHealthOfAKilledAgent(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	must(t, cmd.Run())
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, healthFile), []byte(`{"pid":`+strconv.Itoa(cmd.Process.Pid)+`}`), 0o600))
	if runs, err := Health(dir); runs || err != nil {
		t.Errorf("%t, %v", runs, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, healthFile), []byte("{"), 0o600))
	if runs, err := Health(dir); runs || err == nil {
		t.Errorf("damaged: %t, %v", runs, err)
	}
}
