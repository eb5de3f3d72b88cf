// Package mqtttest runs mosquitto, the broker, and watches what is published to it.
package mqtttest

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// maxWait bounds every wait. A wait reaches it only in a failure.
const maxWait = 30 * time.Second

// Mosquitto is a running broker.
type Mosquitto struct {
	t testing.TB
	// Port is where it listens.
	Port   int
	config string
	cmd    *exec.Cmd
}

// Start starts the broker of the system with more lines of
// configuration, in which PORT stands for its port; "" is an open listener on the
// loopback interface. It ends with the test, which is skipped when
// there is no such program, and fails if DOGWATCH_TEST_REQUIRE lists "mosquitto".
func Start(t testing.TB, config string) *Mosquitto {
	t.Helper()
	if _, err := mosquittoPath(); err != nil {
		plugintest.Skip(t, "mosquitto", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	config = cmp.Or(config, "listener PORT 127.0.0.1\nallow_anonymous true\n")
	config = strings.ReplaceAll(config, "PORT", fmt.Sprint(port))
	m := &Mosquitto{t: t, Port: port, config: filepath.Join(t.TempDir(), "mosquitto.conf")}
	// It gives up being root, and would then not be able to read the test's files.
	if err := os.WriteFile(m.config, []byte("user root\nmax_queued_messages 0\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Start()
	t.Cleanup(m.Stop)
	return m
}

// mosquittoPath finds the program, which Debian keeps where only root looks.
func mosquittoPath() (string, error) {
	if path, err := exec.LookPath("mosquitto"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/mosquitto")
}

// URL returns its address, mqtt://127.0.0.1:port.
func (m *Mosquitto) URL() string { return fmt.Sprintf("mqtt://127.0.0.1:%d", m.Port) }

// Start starts it again where it was.
func (m *Mosquitto) Start() {
	path, err := mosquittoPath()
	if err != nil {
		m.t.Fatal(err)
	}
	m.cmd = exec.Command(path, "-c", m.config)
	var output strings.Builder
	m.cmd.Stderr = &output
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	for end := time.Now().Add(maxWait); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", m.Port))
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			m.Stop()
			m.t.Fatalf("mosquitto does not listen: %s", output.String())
		}
	}
}

// Stop kills it; what it held is lost.
func (m *Mosquitto) Stop() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}
