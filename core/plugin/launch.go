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
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
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
	client *sdkplugin.Client
	cmd    *exec.Cmd
	owner  *goplugin.Client
	rpc    goplugin.ClientProtocol
	// kill ends the process and all that it started, at once. It may be called more than once.
	kill func()
	// done closes as soon as the process is gone.
	done <-chan struct{}
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
	secured, key, err := sdkplugin.HostTLS()
	if err != nil {
		return nil, err
	}
	alive, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(alive, b.path, b.args...)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.Env = append(h.environment(b), key...)
	harden(cmd)
	done := &doneCatcher{GRPCPlugin: sdkplugin.ClientPlugins()[sdkplugin.ProtocolVersion][sdkplugin.PluginName].(goplugin.GRPCPlugin)}
	config := &goplugin.ClientConfig{
		HandshakeConfig:  sdkplugin.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{sdkplugin.ProtocolVersion: {sdkplugin.PluginName: done}},
		Cmd:              cmd,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		TLSConfig:        secured,
		SkipHostEnv:      true,
		StartTimeout:     startTimeout,
		Logger:           bridge{log, h.opt.Log},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithReadBufferSize(8 << 10), grpc.WithWriteBufferSize(8 << 10)},
	}
	if !b.builtin {
		config.SecureConfig = &goplugin.SecureConfig{Checksum: b.checksum, Hash: sha256.New()}
	}
	owner := goplugin.NewClient(config)
	defer func() {
		if err != nil {
			// go-plugin waits for the end of the process's output, which a child
			// of the process may hold open for ever.
			kill()
			owner.Kill()
		}
	}()
	defer context.AfterFunc(ctx, kill)()
	rpc, err := owner.Client()
	if err != nil {
		return nil, err
	}
	raw, err := rpc.Dispense(sdkplugin.PluginName)
	if err != nil {
		return nil, fmt.Errorf("dispense: %w", err)
	}
	return &process{client: raw.(*sdkplugin.Client), cmd: cmd, owner: owner, rpc: rpc, kill: kill, done: done.done}, nil
}

// stop asks the process to end, and ends it and what it started when it does not.
func (p *process) stop() {
	timer := time.AfterFunc(stopPatience, p.kill)
	defer timer.Stop()
	p.owner.Kill()
	p.kill()
}

// killedFromOutside reports whether a dead process was ended by a signal that
// the process itself does not raise when it crashes.
func (p *process) killedFromOutside() bool {
	for !p.owner.Exited() {
		time.Sleep(time.Millisecond)
	}
	state := p.cmd.ProcessState
	return state != nil && bySignal(state)
}

// doneCatcher keeps the channel that go-plugin closes when the process is gone.
type doneCatcher struct {
	goplugin.GRPCPlugin
	goplugin.NetRPCUnsupportedPlugin
	done <-chan struct{}
}

func (d *doneCatcher) GRPCClient(ctx context.Context, broker *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	d.done = ctx.Done()
	return d.GRPCPlugin.GRPCClient(ctx, broker, conn)
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
