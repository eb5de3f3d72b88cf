package dockertest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// SSHD is a running ssh server.
type SSHD struct {
	// Address is host:port of a relay before the server, that counts connections and can cut them.
	Address string
	// Key is a private key that the server accepts for root and nobody, and KnownHosts a file with the server's own.
	Key, KnownHosts string

	dir     string
	link    net.Listener
	port    string
	command *exec.Cmd
	exited  chan struct{}

	mu    sync.Mutex
	count int
	open  map[net.Conn]bool
}

// StartSSHD starts OpenSSH's server, which ends with the test. settings are lines of sshd_config(5), of which the first
// for a keyword counts. The word in DOGWATCH_TEST_REQUIRE is "sshd".
func StartSSHD(t testing.TB, settings ...string) *SSHD {
	t.Helper()
	const program = "/usr/sbin/sshd" // which it wants to be called by
	need(t, "sshd", program, "ssh-keygen")
	// The server reads the list of keys as the user that logs in.
	dir, err := os.MkdirTemp("", "dw")
	check(t, err)
	check(t, os.Chmod(dir, 0o755))
	check(t, own(dir))
	s := &SSHD{
		Key: filepath.Join(dir, "id_ed25519"), KnownHosts: filepath.Join(dir, "known_hosts"), dir: dir, open: map[net.Conn]bool{},
	}
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	check(t, os.MkdirAll("/run/sshd", 0o755)) // its empty folder, see sshd(8)
	s.Keygen(t, "ed25519", s.Key, "")
	s.NewHostKey(t)
	authorized, err := os.ReadFile(s.Key + ".pub")
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "authorized_keys"), authorized, 0o644))

	free, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	_, s.port, err = net.SplitHostPort(free.Addr().String())
	check(t, err)
	check(t, free.Close())
	s.link, err = net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	s.Address = s.link.Addr().String()
	relaying := make(chan struct{})
	go func() {
		defer close(relaying)
		s.relay()
	}()
	t.Cleanup(func() {
		check(t, s.link.Close())
		s.Cut()
		<-relaying
	})
	s.configure(t, settings)
	s.Trust(t)
	s.Start(t)
	t.Cleanup(func() { s.Stop(t) })
	return s
}

func (s *SSHD) configure(t testing.TB, settings []string) {
	t.Helper()
	all := append(settings,
		"Port "+s.port, "ListenAddress 127.0.0.1", "HostKey "+s.hostKey(), "PidFile none",
		"AuthorizedKeysFile "+filepath.Join(s.dir, "authorized_keys"), "StrictModes no", "UsePAM no",
		"PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
		"MaxStartups 100", "LogLevel VERBOSE")
	check(t, os.WriteFile(s.config(), []byte(strings.Join(all, "\n")+"\n"), 0o600))
}

func (s *SSHD) config() string  { return filepath.Join(s.dir, "sshd_config") }
func (s *SSHD) hostKey() string { return filepath.Join(s.dir, "host_ed25519") }

// Set stops the server, adds settings before those that it has, and starts it again.
func (s *SSHD) Set(t testing.TB, settings ...string) {
	t.Helper()
	s.Stop(t)
	s.configure(t, settings)
	s.Start(t)
}

// Keygen makes a key pair of a type, with a passphrase unless that is "".
func (s *SSHD) Keygen(t testing.TB, kind, file, passphrase string) {
	t.Helper()
	_ = os.Remove(file)
	out, err := exec.Command("ssh-keygen", "-q", "-t", kind, "-f", file, "-N", passphrase, "-C", "test").CombinedOutput()
	if err != nil {
		t.Fatalf("make a key: %v\n%s", err, out)
	}
}

// NewHostKey gives the server another key, with its next start.
func (s *SSHD) NewHostKey(t testing.TB) {
	t.Helper()
	s.Keygen(t, "ed25519", s.hostKey(), "")
}

// Trust writes the server's key into KnownHosts.
func (s *SSHD) Trust(t testing.TB) {
	t.Helper()
	public, err := os.ReadFile(s.hostKey() + ".pub")
	check(t, err)
	check(t, os.WriteFile(s.KnownHosts, fmt.Appendf(nil, "[127.0.0.1]:%s %s", s.Port(), public), 0o600))
}

// Port is that of Address.
func (s *SSHD) Port() string {
	_, port, _ := net.SplitHostPort(s.Address)
	return port
}

// URL is the address of a socket on the machine, for a user of it.
func (s *SSHD) URL(user, socket string) string {
	return "ssh://" + user + "@" + s.Address + strings.TrimPrefix(socket, "unix://")
}

// Start starts the server, and waits until it listens.
func (s *SSHD) Start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(t, err)
	defer log.Close()
	s.command = exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", s.config())
	s.command.Stdout, s.command.Stderr = log, log
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	check(t, s.command.Start())
	command, exited := s.command, make(chan struct{})
	s.exited = exited
	go func() {
		defer close(exited)
		_ = command.Wait()
	}()
	for began := time.Now(); ; {
		conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			check(t, conn.Close())
			return
		}
		select {
		case <-exited:
			t.Fatalf("the ssh server is gone\n%s", s.Log())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Since(began) > startLimit {
			t.Fatalf("the ssh server does not listen: %v\n%s", err, s.Log())
		}
	}
}

// Stop stops the server, and cuts the connections through it.
func (s *SSHD) Stop(t testing.TB) {
	t.Helper()
	_ = s.command.Process.Signal(syscall.SIGTERM) // or it exited before
	<-s.exited
	s.Cut()
}

// Log is what the server logged.
func (s *SSHD) Log() string {
	content, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(content))
}

func (s *SSHD) logPath() string { return filepath.Join(s.dir, "log") }

// Connections returns how many there were so far, and how many there are.
func (s *SSHD) Connections() (ever, now int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count, len(s.open)
}

// Cut cuts all connections.
func (s *SSHD) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		conn.Close()
	}
}

// relay passes on connections until the listener is closed.
func (s *SSHD) relay() {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		client, err := s.link.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.count++
		s.open[client] = true
		s.mu.Unlock()
		all.Go(func() {
			defer func() {
				client.Close()
				s.mu.Lock()
				delete(s.open, client)
				s.mu.Unlock()
			}()
			server, err := net.Dial("tcp", "127.0.0.1:"+s.port)
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(server, client)
				server.Close()
			}()
			_, _ = io.Copy(client, server)
		})
	}
}
