package dockertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>ADDRESS</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// Systemd stands for the systemd of a machine, on a D-Bus of its own, since a test's machine may have none: it makes
// the containers of one quadlet with Podman as the unit of it would, and of what it is asked it does nothing else. The
// unit is called "web.service" for a quadlet "web.container".
type Systemd struct {
	// Bus is the address of its D-Bus.
	Bus string

	engine *Daemon
	unit   string
	mu     sync.Mutex
	source string // the file that the unit was made from; "" for a unit that was written by hand
	image  string // of the unit, as it was generated
	conn   *dbus.Conn
	calls  []string
}

// StartSystemd starts the D-Bus, and the unit of a quadlet. The word in DOGWATCH_TEST_REQUIRE is "podman".
func (d *Daemon) StartSystemd(t testing.TB, file string) *Systemd {
	t.Helper()
	need(t, "podman", "dbus-daemon")
	config, socket := filepath.Join(d.dir, "bus.conf"), filepath.Join(d.dir, "bus")
	s := &Systemd{Bus: "unix:path=" + socket, source: file, engine: d}
	check(t, os.WriteFile(config, []byte(strings.Replace(busConfig, "ADDRESS", s.Bus, 1)), 0o600))
	s.unit = strings.TrimSuffix(filepath.Base(file), ".container") + ".service"
	bus := exec.Command("dbus-daemon", "--nofork", "--config-file="+config)
	bus.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	check(t, bus.Start())
	t.Cleanup(func() {
		_ = bus.Process.Kill() // an error is that it has ended
		_ = bus.Wait()
	})
	var err error
	for began := time.Now(); s.conn == nil; time.Sleep(20 * time.Millisecond) {
		if s.conn, err = dbus.Connect(s.Bus); err != nil && time.Since(began) > startLimit {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	path := dbus.ObjectPath("/org/freedesktop/systemd1")
	check(t, s.conn.Export(manager{s}, path, "org.freedesktop.systemd1.Manager"))
	unit := path + "/unit/" + dbus.ObjectPath(strings.NewReplacer(".", "_2e", "-", "_2d").Replace(s.unit))
	check(t, s.conn.Export(properties{s}, unit, "org.freedesktop.DBus.Properties"))
	_, err = s.conn.RequestName("org.freedesktop.systemd1", dbus.NameFlagDoNotQueue)
	check(t, err)
	check(t, s.generate())
	if err := s.restart(); err != nil {
		t.Fatal(err)
	}
	return s
}

// SetSource makes another file the one that the unit was made from; "" for a unit that was written by hand.
func (s *Systemd) SetSource(file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.source = file
}

// madeFrom returns the file that the unit was made from.
func (s *Systemd) madeFrom() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source
}

// Calls returns what systemd was asked to do since the last call: "reload" and "restart".
func (s *Systemd) Calls() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.calls, " ")
	s.calls = nil
	return all
}

// Image returns the image of the unit as it was generated last.
func (s *Systemd) Image() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.image
}

func (s *Systemd) called(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, name)
}

// generate reads the quadlet, as Podman's generator does.
func (s *Systemd) generate() error {
	text, err := os.ReadFile(s.madeFrom())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		if image, found := strings.CutPrefix(strings.TrimSpace(line), "Image="); found {
			s.image = image
		}
	}
	return nil
}

// restart does what the unit does when it is restarted.
func (s *Systemd) restart() error {
	name := "systemd-" + strings.TrimSuffix(s.unit, ".service")
	stop := s.engine.Podman("rm", "-f", "-i", "--time", "1", name)
	if err := stop.Run(); err != nil {
		return err
	}
	start := s.engine.Podman("run", "-d", "--rm", "--replace", "--name", name, "--network", "none", "--sdnotify=ignore",
		s.Image())
	start.Env = append(start.Env, "PODMAN_SYSTEMD_UNIT="+s.unit)
	return start.Run()
}

// manager is org.freedesktop.systemd1.Manager.
type manager struct{ s *Systemd }

// Reload generates the unit again.
func (m manager) Reload() *dbus.Error {
	m.s.called("reload")
	if err := m.s.generate(); err != nil {
		return dbus.MakeFailedError(err)
	}
	return nil
}

// ResetFailedUnit does nothing.
func (m manager) ResetFailedUnit(string) *dbus.Error { return nil }

// RestartUnit restarts the unit, and says how that ended once it has.
func (m manager) RestartUnit(name, _ string) (dbus.ObjectPath, *dbus.Error) {
	m.s.called("restart")
	job := dbus.ObjectPath("/org/freedesktop/systemd1/job/1")
	go func() {
		result := "done"
		if name != m.s.unit || m.s.restart() != nil {
			result = "failed"
		}
		_ = m.s.conn.Emit("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager.JobRemoved", uint32(1), job, name,
			result) // an error is that the test has ended
	}()
	return job, nil
}

// properties is org.freedesktop.DBus.Properties of the unit.
type properties struct{ s *Systemd }

// GetAll returns where the unit is from.
func (p properties) GetAll(string) (map[string]dbus.Variant, *dbus.Error) {
	return map[string]dbus.Variant{"SourcePath": dbus.MakeVariant(p.s.madeFrom())}, nil
}
