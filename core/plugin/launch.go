package plugin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
)

const (
	startTimeout = 10 * time.Second
	// stopPatience is how long a process that was asked to end may take.
	stopPatience = 5 * time.Second
	// A plugin that dies during its handshake is tried again at once: on a
	// loaded or memory-starved machine that is often mere bad luck.
	handshakeTries = 3
	// maxSocketDir keeps socket paths below the limit of 108 bytes of unix(7),
	// with room for the names that go-plugin adds.
	maxSocketDir = 80
)

// passedEnv are the only variables of the host's environment that a plugin
// sees: secrets meant for one plugin must not reach another.
var passedEnv = []string{
	"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "DOCKER_HOST",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// environment is what a bundle's process sees.
func (h *Host) environment(b bundle) []string {
	// A soft memory limit far above the live heap, an eager collector and few
	// threads keep a small process small; see docs/performance.md.
	env := []string{"GOGC=50", "GOMEMLIMIT=64MiB", "GOMAXPROCS=2", goplugin.EnvUnixSocketDir + "=" + h.runDir}
	for _, names := range [][]string{passedEnv, h.opt.Env, b.env} {
		for _, name := range names {
			if v, set := os.LookupEnv(name); set {
				env = append(env, name+"="+v)
			}
		}
	}
	if b.builtin {
		env = append(env, h.opt.Vars[b.name]...) // of two settings the later counts
	}
	return env
}

// process is one live process of a bundle.
type process struct {
	child  *child
	client *pluginclient.Client
	owner  *goplugin.Client
	rpc    goplugin.ClientProtocol
	// gone is set when a call found that the process does not answer any more.
	gone atomic.Bool
}

// launch starts a bundle's process and shakes hands with it.
func (h *Host) launch(ctx context.Context, b bundle, log hclog.Logger) (*process, error) {
	var err error
	for range handshakeTries {
		began := time.Now()
		var p *process
		if p, err = h.launchOnce(ctx, b, log); err == nil {
			return p, nil
		}
		silent := time.Since(began) >= startTimeout
		if silent || ctx.Err() != nil || errors.Is(err, goplugin.ErrChecksumsDoNotMatch) {
			break
		}
	}
	return nil, fmt.Errorf("start %s: %w", b.name, err)
}

func (h *Host) launchOnce(ctx context.Context, b bundle, log hclog.Logger) (_ *process, err error) {
	secured, key, err := pluginclient.HostTLS()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.path, b.args...)
	harden(cmd)
	c := &child{cmd: cmd, exited: make(chan struct{})}
	config := &goplugin.ClientConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: pluginclient.ClientPlugins(),
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			// Of two settings the later counts: sockets are in our folder, whose path is short enough.
			cmd.Env = slices.Concat(spec.Env, h.environment(b), key)
			return c, checkSum(b)
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: h.runDir},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		TLSConfig:        secured,
		SkipHostEnv:      true,
		StartTimeout:     startTimeout,
		Logger:           bridge{log, h.opt.Log},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithReadBufferSize(8 << 10), grpc.WithWriteBufferSize(8 << 10)},
	}
	owner := goplugin.NewClient(config)
	defer func() {
		if err != nil {
			_ = c.Kill(ctx)
			owner.Kill()
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = c.Kill(ctx) })()
	rpc, err := owner.Client()
	if err != nil {
		return nil, err
	}
	raw, err := rpc.Dispense(protocol.PluginName)
	if err != nil {
		return nil, fmt.Errorf("dispense: %w", err)
	}
	return &process{client: raw.(*pluginclient.Client), child: c, owner: owner, rpc: rpc}, nil
}

// kill ends the process and all that it started, at once. It may be called more than once.
func (p *process) kill() { _ = p.child.Kill(context.Background()) }

// stop asks the process to end, and ends it and what it started when it does not.
func (p *process) stop() {
	p.child.expectEnd()
	timer := time.AfterFunc(stopPatience, p.kill)
	defer timer.Stop()
	p.owner.Kill()
	p.kill()
}

// release lets go of what belongs to a process that has ended: its connection and its socket.
func (p *process) release() { p.owner.Kill() }

// killedFromOutside waits for the end of a process and reports whether it was a
// signal that the process itself does not raise when it crashes.
func (p *process) killedFromOutside() bool {
	<-p.child.exited
	return bySignal(p.child.cmd.ProcessState)
}

// checkSum makes sure that the executable still is the one that was found to be trusted.
func checkSum(b bundle) error {
	if b.builtin {
		return nil
	}
	same, err := (&goplugin.SecureConfig{Checksum: b.checksum, Hash: sha256.New()}).Check(b.path)
	if err == nil && !same {
		err = goplugin.ErrChecksumsDoNotMatch
	}
	return err
}

// makeRunDir makes a private folder for sockets in the first of dirs that can
// hold one, and removes what dead hosts left there.
func makeRunDir(dirs []string) (string, error) {
	var problems []error
	for _, parent := range append(dirs, os.TempDir()) {
		dir, err := tryRunDir(parent)
		if err == nil {
			return dir, nil
		}
		problems = append(problems, err)
	}
	return "", fmt.Errorf("make a folder for plugin sockets (set store.path or TMPDIR to a writable local folder with a short path): %w", errors.Join(problems...))
}

const runDirPrefix = "dogwatch-run-"

func tryRunDir(parent string) (string, error) {
	if parent == "" || len(parent) > maxSocketDir {
		return "", fmt.Errorf("%q: the path must have 1 to %d bytes", parent, maxSocketDir)
	}
	removeStale(parent)
	dir, err := os.MkdirTemp(parent, runDirPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", err
	}
	// Some network file systems cannot hold sockets.
	l, err := net.Listen("unix", filepath.Join(dir, "probe"))
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	l.Close()
	return dir, nil
}

// removeStale removes the folders of hosts that were killed.
func removeStale(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, runDirPrefix+"*"))
	for _, dir := range old {
		name := strings.TrimPrefix(filepath.Base(dir), runDirPrefix)
		pid, err := strconv.Atoi(name[:max(strings.IndexByte(name, '-'), 0)])
		if err == nil && pid != os.Getpid() && !alive(pid) {
			os.RemoveAll(dir)
		}
	}
}
