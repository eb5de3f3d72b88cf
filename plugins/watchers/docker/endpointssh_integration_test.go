package docker

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/update"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// overSSH are options for the engine at a socket behind a server.
func overSSH(s *dockertest.SSHD, socket string) Options {
	return Options{Connection: Connection{Host: s.URL("root", socket), SSH: SSH{KeyFile: s.Key, KnownHosts: s.KnownHosts}}}
}

// TestEngineOverSSH covers all that a watcher does with a Docker Engine behind an ssh server, over one connection.
func TestEngineOverSSH(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	l := newLab(t)
	o := overSSH(server, l.Host)
	o.Update, o.Compose = true, update.ComposeEdit
	l.docker = watch(t, o)
	l.docker.updater.Liveness = soon
	id := l.make(t, "web", "app:1", shape{}, true)
	if got := list(t, l.docker); got["web"].ID != id || got["web"].Status != "running" {
		t.Fatalf("listed %+v", got)
	}
	about, err := l.docker.Probe(t.Context(), sdk.ProbeRequest{})
	check(t, err)
	if !strings.HasPrefix(about.Summary, "Docker/") {
		t.Errorf("the engine is %q", about.Summary)
	}
	t.Run("events", func(t *testing.T) {
		f := subscribe(t, l.docker)
		f.streams(1)
		check(t, l.API.ContainerStop(t.Context(), id, container.StopOptions{}))
		f.expect(watcher.ActionStatus, id, "exited")
		check(t, l.API.ContainerStart(t.Context(), id, container.StartOptions{}))
		f.expect(watcher.ActionStatus, id, "running")
	})
	l.Image(t, "app:bad", `HEALTHCHECK --interval=200ms --timeout=1s --retries=1 CMD ["/missing"]`)
	for name, want := range map[string]watcher.OutcomeState{"bad": watcher.RolledBack, "2": watcher.Updated} {
		image, err := l.API.ImageInspect(t.Context(), "app:"+name)
		check(t, err)
		req := watcher.UpdateRequest{
			ContainerID: l.inspect(t, "web").ID,
			Image:       watcher.TargetImage{Reference: "docker.io/library/app:" + name, ID: image.ID},
		}
		plan := l.plan(t, req)
		out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op" + name, Request: req, Plan: plan}, &journal{})
		check(t, err)
		if out.State != want {
			t.Errorf("app:%s: %+v", name, out)
		}
	}
	if now := l.inspect(t, "web"); now.Image != l.new || !now.State.Running {
		t.Errorf("web runs %s (%s), want %s", now.Image, now.State.Status, l.new)
	}
	if ever, now := server.Connections(); ever != 1 || now != 1 {
		t.Errorf("%d ssh connections, %d at once, want one\n%s", ever, now, server.Log())
	}
}

// TestComposeFileOverSSH keeps a file of this machine from being taken for that of the engine's.
func TestComposeFileOverSSH(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	l := newLab(t)
	p := newProject(t, l, composeText)
	p.up(t, "web")
	o := overSSH(server, l.Host)
	o.Update, o.Compose = true, update.ComposeEdit
	plan, err := watch(t, o).Plan(t.Context(), watcher.UpdateRequest{
		ContainerID: l.inspect(t, composed("home_web_1")).ID,
		Image:       watcher.TargetImage{Reference: "docker.io/library/app:2", ID: l.new},
	})
	check(t, err)
	if len(plan.Blocks) != 1 || !strings.Contains(plan.Blocks[0].Text, "the compose file is on 127.0.0.1") {
		t.Errorf("blocked by %v", plan.Blocks)
	}
	p.want(t, composeText)
}

// TestProbeOverSSH reaches a port that only the engine's machine sees.
func TestProbeOverSSH(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	e, _, err := locate(overSSH(server, "/run/docker.sock").Connection, "")
	check(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	conn, err := e.Dial(t.Context(), "tcp", listener.Addr().String())
	check(t, err)
	check(t, conn.Close())
	e.SSH.Close()
	server.Set(t, "AllowTcpForwarding no")
	if _, err := e.Dial(t.Context(), "tcp", listener.Addr().String()); err == nil ||
		!strings.Contains(err.Error(), "allow it with AllowTcpForwarding") {
		t.Error(err)
	}
}

// TestSSHRefused covers what keeps a user from an engine over ssh, and that the watcher works once it is mended.
func TestSSHRefused(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	socket := serve(t, populated(t, enginesim.Config{APIVersion: "1.41"}))
	good := overSSH(server, socket)
	other := filepath.Join(t.TempDir(), "other")
	server.Keygen(t, "ed25519", other, "")
	locked := filepath.Join(t.TempDir(), "locked")
	server.Keygen(t, "ed25519", locked, "geheimnis")
	nobody := filepath.Join(t.TempDir(), "known_hosts")
	check(t, os.WriteFile(nobody, nil, 0o600))
	with := func(change func(*Options)) Options {
		o := good
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		options      Options
		kind         error
		text, remedy string
	}{
		"wrong user": {with(func(o *Options) { o.Host = server.URL("stranger", socket) }), sdk.ErrUnauthorized,
			"refuses the login of user stranger with " + server.Key, "ssh-copy-id -i " + server.Key},
		"wrong key": {with(func(o *Options) { o.SSH.KeyFile = other }), sdk.ErrUnauthorized,
			"refuses the login of user root with " + other, "ssh-copy-id -i " + other + " -p " + server.Port()},
		"unknown host": {with(func(o *Options) { o.SSH.KnownHosts = nobody }), sdk.ErrUnauthorized,
			"is not known, it is SHA256:", "echo '[127.0.0.1]:" + server.Port() + " ssh-ed25519 "},
		"no passphrase": {with(func(o *Options) { o.SSH.KeyFile = locked }), sdk.ErrUnauthorized,
			"the key " + locked + " has a passphrase: set ssh.passphrase, or add the key to an ssh agent (ssh-add " + locked, ""},
		"no such socket": {with(func(o *Options) { o.Host = server.URL("root", "/run/none.sock") }), sdk.ErrUnauthorized,
			"does not open /run/none.sock: is the engine running there, may user root", "ls -l /run/none.sock"},
		"no rights": {with(func(o *Options) { o.Host = server.URL("nobody", socket) }), sdk.ErrUnauthorized,
			"may user nobody use its socket (group docker)", "id nobody"},
		"no server": {with(func(o *Options) { o.Host = "ssh://root@127.0.0.1:1" }), sdk.ErrUnavailable,
			"no ssh server listens there", ""},
		"no name": {with(func(o *Options) { o.Host = "ssh://root@engine.invalid" }), sdk.ErrUnavailable,
			"the name engine.invalid is not known", ""},
		"another server": {with(func(o *Options) {
			o.Host = "ssh://root@" + serveTCP(t, populated(t, enginesim.Config{}), nil)
		}), sdk.ErrUnavailable, "is that the port of an ssh server", ""},
		"agent that is not there": {with(func(o *Options) { o.SSH.KeyFile, o.SSH.Agent = locked, "/run/none.agent" }),
			sdk.ErrUnauthorized, "the ssh agent at /run/none.agent does not respond", ""},
		"jump host that is gone": {with(func(o *Options) { o.SSH.Jump = []string{"root@127.0.0.1:1"} }), sdk.ErrUnavailable,
			"jump host root@127.0.0.1:1: no ssh server listens there", ""},
		"jump host cannot reach it": {with(func(o *Options) {
			o.Host, o.SSH.Jump = "ssh://root@127.0.0.1:1", []string{server.Address}
		}), sdk.ErrUnavailable, "the ssh server cannot connect to 127.0.0.1:1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := watch(t, c.options)
			_, err := d.List(t.Context())
			explains(t, err, c.kind, d.engine.Endpoint.String(), c.text)
			if remedy := sdk.Remedy(err); !strings.Contains(remedy, c.remedy) || c.remedy != "" && remedy == "" {
				t.Errorf("remedy %q, want %q", remedy, c.remedy)
			}
		})
	}
	t.Run("the command of an unknown host adds it", func(t *testing.T) {
		d := watch(t, with(func(o *Options) { o.SSH.KnownHosts = nobody }))
		_, err := d.List(t.Context())
		check(t, exec.CommandContext(t.Context(), "sh", "-c", sdk.Remedy(err)).Run())
		if got := list(t, d); len(got) != 2 {
			t.Errorf("%d containers", len(got))
		}
	})
	t.Run("forwarding turned off", func(t *testing.T) {
		server.Set(t, "AllowStreamLocalForwarding no")
		d := watch(t, good)
		_, err := d.List(t.Context())
		explains(t, err, sdk.ErrUnauthorized, d.engine.Endpoint.String(), "does sshd_config allow it (AllowStreamLocalForwarding)")
		server.Set(t)
		if got := list(t, d); len(got) != 2 {
			t.Errorf("%d containers", len(got))
		}
	})
	t.Run("a key that may only forward", func(t *testing.T) {
		file := filepath.Join(filepath.Dir(server.Key), "authorized_keys")
		key, err := os.ReadFile(file)
		check(t, err)
		allow := func(options string) { check(t, os.WriteFile(file, append([]byte(options), key...), 0o644)) }
		allow("restrict,port-forwarding ")
		d := watch(t, good)
		if got := list(t, d); len(got) != 2 {
			t.Errorf("%d containers", len(got))
		}
		allow("restrict ")
		d = watch(t, good)
		_, err = d.List(t.Context())
		explains(t, err, sdk.ErrUnauthorized, d.engine.Endpoint.String(), "does not open ")
		allow("")
	})
	t.Run("host key changed", func(t *testing.T) {
		d := watch(t, good)
		list(t, d)
		server.Stop(t)
		server.NewHostKey(t)
		server.Start(t)
		_, err := d.List(t.Context())
		explains(t, err, sdk.ErrUnauthorized, d.engine.Endpoint.String(), "has changed: it is SHA256:", server.KnownHosts+":1 says SHA256:")
		check(t, exec.CommandContext(t.Context(), "sh", "-c", sdk.Remedy(err)).Run())
		if got := list(t, d); len(got) != 2 {
			t.Errorf("%d containers", len(got))
		}
	})
}

// TestSSHHostKeys covers what a file of known hosts may hold besides one key.
func TestSSHHostKeys(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	o := overSSH(server, serve(t, populated(t, enginesim.Config{APIVersion: "1.41"})))
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(arguments ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "ssh-keygen", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	knows := func(marker, key string) string {
		public, err := os.ReadFile(file(key + ".pub"))
		check(t, err)
		return strings.TrimSpace(marker + " [127.0.0.1]:" + server.Port() + " " + string(public))
	}
	for _, name := range []string{"ed25519", "rsa", "ca", "stranger"} {
		kind := "ed25519"
		if name == "rsa" {
			kind = name
		}
		server.Keygen(t, kind, file(name), "")
	}
	run("-q", "-s", file("ca"), "-I", "host", "-h", "-n", "127.0.0.1", file("ed25519.pub"))
	check(t, os.WriteFile(file("hashed"), []byte(knows("", "ed25519")+"\n"), 0o600))
	run("-H", "-f", file("hashed"))
	hashed, err := os.ReadFile(file("hashed"))
	check(t, err)
	for name, c := range map[string]struct{ certificate, known, fails string }{
		"one of two types":          {"", knows("", "rsa"), ""},
		"hashed":                    {"", string(hashed), ""},
		"authority":                 {"ed25519-cert.pub", knows("@cert-authority", "ca"), ""},
		"key of one with authority": {"ed25519-cert.pub", knows("", "ed25519"), ""},
		"another authority":         {"ed25519-cert.pub", knows("@cert-authority", "stranger"), "the certificate of the host key"},
		"revoked":                   {"", knows("@revoked", "ed25519") + "\n" + knows("", "ed25519"), "is revoked in "},
		"of another host":           {"", "other " + strings.SplitN(knows("", "ed25519"), " ", 2)[1], "is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := []string{"HostKey " + file("ed25519"), "HostKey " + file("rsa")}
			if c.certificate != "" {
				settings = append(settings, "HostCertificate "+file(c.certificate))
			}
			server.Set(t, settings...)
			check(t, os.WriteFile(o.SSH.KnownHosts, []byte(c.known+"\n"), 0o600))
			d := watch(t, o)
			if c.fails == "" {
				list(t, d)
				return
			}
			_, err := d.List(t.Context())
			explains(t, err, sdk.ErrUnauthorized, d.engine.Endpoint.String(), c.fails)
		})
	}
	check(t, os.WriteFile(o.SSH.KnownHosts, []byte("nas ssh-rsa what\n"), 0o600))
	_, _, err = locate(o.Connection, "")
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "ssh.knownhosts" ||
		!strings.Contains(err.Error(), o.SSH.KnownHosts+":1") {
		t.Error(err)
	}
}

// TestSSHKeys covers the ways to log in.
func TestSSHKeys(t *testing.T) {
	server := dockertest.StartSSHD(t)
	socket := serve(t, populated(t, enginesim.Config{APIVersion: "1.41"}))
	const passphrase = "geheim nis"
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	check(t, os.Mkdir(filepath.Join(home, ".ssh"), 0o700))
	copied := func(name, passphrase string) string {
		file := filepath.Join(home, ".ssh", name)
		for _, suffix := range []string{"", ".pub"} {
			content, err := os.ReadFile(server.Key + suffix)
			check(t, err)
			check(t, os.WriteFile(file+suffix, content, 0o600))
		}
		check(t, exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-p", "-f", file, "-N", passphrase).Run())
		return file
	}
	good := overSSH(server, socket)
	good.SSH.KeyFile = ""
	works := func(t *testing.T, o Options) {
		t.Helper()
		if got := list(t, watch(t, o)); len(got) != 2 {
			t.Errorf("%d containers", len(got))
		}
	}
	fails := func(t *testing.T, o Options, texts ...string) {
		t.Helper()
		d := watch(t, o)
		_, err := d.List(t.Context())
		explains(t, err, sdk.ErrUnauthorized, d.engine.Endpoint.String(), texts...)
		if strings.Contains(err.Error(), passphrase) {
			t.Errorf("tells the passphrase: %v", err)
		}
	}
	fails(t, good, "there is no key to log in with: set ssh.keyfile, or ssh.agent")
	file := copied("id_rsa", "")
	works(t, good)
	copied("id_rsa", passphrase)
	fails(t, good, file+" has a passphrase")
	o := good
	o.SSH.Passphrase = passphrase
	works(t, o)
	o.SSH.KeyFile = file
	works(t, o)
	o.SSH.Passphrase = "another"
	_, _, err := locate(o.Connection, "")
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "ssh.keyfile" ||
		!strings.Contains(err.Error(), "ssh.passphrase is not the passphrase of "+file) {
		t.Error(err)
	}
	o.SSH.Passphrase = ""

	agent := startAgent(t)
	t.Setenv("SSH_AUTH_SOCK", agent)
	fails(t, good, "the ssh agent at "+agent+" has no keys: ssh-add adds one")
	fails(t, o, file+" has a passphrase", "the ssh agent at "+agent+" has no keys")
	add := exec.CommandContext(t.Context(), "ssh-add", "-q", server.Key)
	check(t, add.Run())
	works(t, good)
	works(t, o) // which may not be read, but is the agent's, too
	t.Setenv("SSH_AUTH_SOCK", "")
	good.SSH.Agent = agent
	works(t, good)
}

// startAgent starts an ssh agent, and returns its socket.
func startAgent(t *testing.T) string {
	t.Helper()
	socket := filepath.Join(socketDir(t), "agent")
	command := exec.Command("ssh-agent", "-D", "-a", socket)
	out, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	_, err = bufio.NewReader(out).ReadString('\n') // where it listens
	check(t, err)
	return socket
}

// TestSSHJumpHosts goes through two servers to a third, and back when one of them returns.
func TestSSHJumpHosts(t *testing.T) {
	t.Parallel()
	first, second, last := dockertest.StartSSHD(t), dockertest.StartSSHD(t), dockertest.StartSSHD(t)
	o := overSSH(last, serve(t, populated(t, enginesim.Config{APIVersion: "1.41"})))
	o.SSH.Jump = []string{"root@" + first.Address, second.Address}
	o.SSH.KnownHosts = filepath.Join(t.TempDir(), "known_hosts")
	var known, keys []byte
	for _, s := range []*dockertest.SSHD{first, second, last} {
		content, err := os.ReadFile(s.KnownHosts)
		check(t, err)
		known = append(known, content...)
		content, err = os.ReadFile(s.Key + ".pub")
		check(t, err)
		keys = append(keys, content...)
	}
	check(t, os.WriteFile(o.SSH.KnownHosts, known, 0o600))
	for _, s := range []*dockertest.SSHD{first, second} {
		check(t, os.WriteFile(filepath.Join(filepath.Dir(s.Key), "authorized_keys"), keys, 0o644))
	}
	d := watch(t, o)
	list(t, d)
	list(t, d)
	for _, s := range []*dockertest.SSHD{first, second, last} {
		if ever, now := s.Connections(); ever != 1 || now != 1 {
			t.Errorf("%d connections, %d at once", ever, now)
		}
	}
	second.Stop(t)
	_, err := d.List(t.Context())
	explains(t, err, sdk.ErrUnavailable, d.engine.Endpoint.String(), "jump host root@"+second.Address)
	second.Start(t)
	list(t, d)
	second.Set(t, "AllowTcpForwarding no")
	_, err = d.List(t.Context())
	explains(t, err, sdk.ErrUnauthorized, d.engine.Endpoint.String(), "through jump host root@"+second.Address, "AllowTcpForwarding")
}

// TestSSHConnectionCut has the connection vanish under a watcher, which makes another one and misses nothing.
func TestSSHConnectionCut(t *testing.T) {
	t.Parallel()
	server := dockertest.StartSSHD(t)
	e := populated(t, enginesim.Config{APIVersion: "1.41"})
	d := watch(t, overSSH(server, serve(t, e)))
	list(t, d)
	f := subscribe(t, d)
	f.streams(1)
	for n := 2; n < 5; n++ {
		server.Cut()
		f.streams(n)
		if got := list(t, d); len(got) != 2 {
			t.Errorf("%d containers", len(got))
		}
		if ever, now := server.Connections(); ever != n || now != 1 {
			t.Errorf("%d connections, %d at once, want %d and 1", ever, now, n)
		}
	}
}

// TestSSHClosed ends the connection with the watcher, and leaves no goroutine.
func TestSSHClosed(t *testing.T) {
	server := dockertest.StartSSHD(t)
	o := overSSH(server, serve(t, populated(t, enginesim.Config{APIVersion: "1.41"})))
	before := runtime.NumGoroutine()
	d := watch(t, o)
	list(t, d)
	check(t, d.Close())
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, now := server.Connections()
		if now == 0 && runtime.NumGoroutine() <= before {
			return
		}
		if time.Since(began) > maxWait {
			t.Fatalf("%d connections, %d goroutines of %d", now, runtime.NumGoroutine(), before)
		}
	}
}
