package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// healthFile is in the folder of an agent while that runs, for the health check of its container.
const healthFile = "health.json"

// health is what the file says.
type health struct {
	PID int `json:"pid"`
	// Refused is why the controller refuses the agent; "" when it does not, also while it cannot be reached.
	Refused string `json:"refused,omitempty"`
}

// writeHealth replaces the file. It need not outlive a crash of the host, so that it is not synced.
func writeHealth(dir string, refused error) error {
	h := health{PID: os.Getpid()}
	if refused != nil {
		h.Refused = refused.Error()
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, healthFile+".new")
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, healthFile))
}

// Health reports whether an agent runs in a folder, and why it is not well: its controller refuses it. A controller
// that cannot be reached is not the agent's fault, which goes on with its operations meanwhile.
func Health(dir string) (runs bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, healthFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var h health
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		return false, fmt.Errorf("read the health of the agent: %w", err)
	}
	if !alive(h.PID) {
		return false, nil
	}
	if h.Refused != "" {
		return true, errors.New(h.Refused)
	}
	return true, nil
}

// alive reports whether a process is there.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
