package plugin

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/wake"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Builtin is a bundle inside this executable, which is started again with Args to serve it.
type Builtin struct {
	Name string
	Args []string
	// Types are what the bundle holds, known without starting it.
	Types []kind.Type
	// Env are names of further environment variables that this bundle alone may see.
	Env []string
	// Sleeps is true of a bundle whose process has nothing in memory that is worth its cost while nothing calls it.
	Sleeps bool
	// Remote has what the bundle holds in other places, so that it has no process; nil for others.
	Remote Remote
}

// TrustStore remembers the checksum under which a third-party executable was first seen.
type TrustStore interface {
	// Checksum returns the SHA-256 recorded for a bundle, and false when there is none.
	Checksum(ctx context.Context, name string) ([]byte, bool, error)
	Trust(ctx context.Context, name string, sha256 []byte) error
}

// Options configure a Host.
type Options struct {
	Builtins []Builtin
	// Command is what command lines that are shown to users begin with; the default is "dogwatch".
	Command string
	// Executable is this program; the default is os.Executable.
	Executable string
	// Dir holds third-party executables; "" when there are none. A relative one is below the working directory.
	Dir string
	// Pinned makes Checksums the only executables that start; otherwise the first sight of a file trusts it.
	Pinned bool
	// Checksums are hexadecimal SHA-256 sums by bundle name.
	Checksums map[string]string
	// Grants returns the capabilities by third-party bundle name, as they are now; nil for none.
	Grants func() map[string][]string
	// Env are names of further environment variables that plugins may see.
	Env []string
	// Vars are variables of single built-in bundles, by their names, as NAME=value.
	// They come before what Builtin.Env lets through.
	Vars map[string][]string
	// Isolation says what third-party bundles may do to the system.
	Isolation Isolation
	// RunDirs are folders to try for the private folder of sockets, best first.
	RunDirs []string
	// Contained is true inside a container, where loopback addresses are its own.
	Contained bool
	// Sleep is how long a bundle that Sleeps is not called before its process ends, until the next call; 0 is never.
	Sleep time.Duration
	// RegistryTimeout bounds one call of a registry; 0 means a minute.
	RegistryTimeout time.Duration
	Trust           TrustStore
	// Records last over restarts; nil remembers nothing.
	Records Records
	// Installed returns what was installed, by third-party bundle name, as it is now; nil for nothing.
	Installed func() map[string]Installed
	// Version is that of this program.
	Version string
	Log     hclog.Logger
	Now     func() time.Time
	// Redact blanks secrets in texts that come from plugins.
	Redact func(string) string
	// Changed is called after every change of a bundle's state. It must not block.
	Changed func(Status)
	// Observe is called after every call that ended. It must not block.
	Observe func(instance, method string, took time.Duration, err error)
}

// Status is a bundle as users see it.
type Status struct {
	Name    string `json:"name"`
	Builtin bool   `json:"builtin"`
	State   State  `json:"state"`
	// Error is the reason of the state. Of a bundle that is running it says why the file
	// that has replaced its own, and whose checksum SHA256 is, may not run.
	Error string `json:"error,omitempty"`
	// HeldBy is the bundle that holds a type of this one, which is rejected for it.
	HeldBy  string `json:"heldBy,omitempty"`
	Version string `json:"version,omitempty"`
	// SDK is the version of the SDK that a third-party bundle was built with, as it says.
	SDK string `json:"sdk,omitempty"`
	// Note is what a user should know although the bundle runs: its SDK is of another time.
	Note     string     `json:"note,omitempty"`
	Types    []TypeName `json:"types"`
	PID      int        `json:"pid,omitempty"`
	Restarts int        `json:"restarts"`
	SHA256   string     `json:"sha256,omitempty"`
	Since    sdk.Time   `json:"since"`
	Grants   []string   `json:"grants,omitempty"`
	// Requested are the capabilities that a third-party bundle asks for; those not in Grants it does not get.
	Requested []string `json:"requested,omitempty"`
	// Isolation is what its process may not do; nil before the first one of a bundle.
	Isolation *Isolated `json:"isolation,omitempty"`
	// Output are the last lines that its process wrote to stderr when it could not be started.
	Output []string `json:"output,omitempty"`
	// Woken is true when Changed is told that a bundle is running which was asleep before.
	Woken bool `json:"-"`
}

// TypeName names a type that a bundle holds.
type TypeName struct {
	Kind kind.Kind `json:"kind"`
	Type string    `json:"type"`
}

// State is where a bundle is in its life.
type State string

// The states of a bundle, of which Rejected is one more.
const (
	Stopped   State = "stopped"   // not needed so far
	Asleep    State = "asleep"    // has no process since nothing called it for a while; the next call starts one
	Starting  State = "starting"  // launching, or configuring its instances
	Running   State = "running"   // responds to calls
	Backoff   State = "backoff"   // its process exited; will be started again
	Broken    State = "broken"    // the circuit breaker is open: it exited too often, and waits for a user to restart it
	Untrusted State = "untrusted" // may not run: its file changed, or is open to others
)

// Word is the state as users read it, on pages and on the command line.
func (s State) Word() string {
	switch s {
	case Stopped:
		return "not needed"
	case Backoff:
		return "waiting"
	case Broken:
		return "failed"
	}
	return string(s)
}

// Well reports whether nothing is wrong with a bundle.
func (s State) Well() bool { return s == Stopped || s == Asleep || s == Starting || s == Running }

// Host owns every bundle and its process.
type Host struct {
	opt    Options
	log    hclog.Logger
	runDir string

	mu      sync.Mutex
	bundles []*Supervisor
	// listed is what the folder of plugins held when it was read last, granted what the
	// configuration and the users granted then.
	listed  []file
	granted map[string][]string
	// changes gets a value when a bundle that came, or changed, has settled.
	changes wake.Signal
	owners  owners
	// limiter looks at the processes of third-party bundles.
	limiter   limiter
	checksums checksums
	// groups are opened, and orphans adopted, before the first of them starts.
	groups func() *groups

	life context.Context
	stop context.CancelFunc
	wait sync.WaitGroup

	// after is time.After, unless a test shortens backoffs.
	after func(time.Duration) <-chan time.Time
	// turn is turnTime, unless a test gives bundles longer.
	turn func(took time.Duration) time.Duration
}

// New prepares a Host for the built-in bundles; nothing is started yet.
func New(opt Options) (*Host, error) {
	if opt.Executable == "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program to start plugins from: %w", err)
		}
		opt.Executable = exe
	}
	opt.Command = cmp.Or(opt.Command, "dogwatch")
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.RegistryTimeout <= 0 {
		opt.RegistryTimeout = time.Minute
	}
	if opt.Redact == nil {
		opt.Redact = func(text string) string { return text }
	}
	if opt.Grants == nil {
		opt.Grants = func() map[string][]string { return nil }
	}
	if opt.Installed == nil {
		opt.Installed = func() map[string]Installed { return nil }
	}
	if opt.Changed == nil {
		opt.Changed = func(Status) {}
	}
	if opt.Observe == nil {
		opt.Observe = func(string, string, time.Duration, error) {}
	}
	if opt.Dir != "" { // messages name it, and programs are started by their paths
		abs, err := filepath.Abs(opt.Dir)
		if err != nil {
			return nil, err
		}
		opt.Dir = abs
	}
	dir, err := makeRunDir(opt.RunDirs, opt.Isolation)
	if err != nil {
		return nil, err
	}
	h := &Host{
		opt: opt, log: opt.Log.Named("plugin"), runDir: dir, granted: opt.Grants(),
		changes: wake.New(), owners: owners{all: map[string]owner{}}, after: time.After,
		turn: turnTime,
	}
	h.limiter.dir = dir
	h.groups = sync.OnceValue(func() *groups {
		if err := adopt(); err != nil {
			h.log.Warn("what plugins leave behind may go on after them", "error", err)
		}
		return openGroups()
	})
	h.life, h.stop = context.WithCancel(context.Background())
	for _, b := range opt.Builtins {
		h.add(newSupervisor(h, bundle{
			name: b.Name, builtin: true, path: opt.Executable, args: b.Args, env: b.Env, sleeps: b.Sleeps, remote: b.Remote,
		}, b.Types))
	}
	return h, nil
}

// add takes a supervisor into the host and starts its actor.
func (h *Host) add(s *Supervisor) {
	h.mu.Lock()
	h.bundles = append(h.bundles, s)
	h.mu.Unlock()
	h.wait.Go(func() {
		defer close(s.done)
		s.run(s.life)
	})
}

// remove ends a bundle and waits for its process, which may end what it does first.
func (h *Host) remove(s *Supervisor) {
	h.mu.Lock()
	h.bundles = slices.DeleteFunc(slices.Clone(h.bundles), func(other *Supervisor) bool { return other == s })
	h.mu.Unlock()
	s.mu.Lock()
	p := s.proc
	s.mu.Unlock()
	if p != nil {
		p.gone.Store(true)
		p.awaitRuns(h.life)
	}
	s.end()
	<-s.done
	h.checksums.forget(s.bundle.path)
	s.notifyAll(unavailable(fmt.Errorf("plugin %s was removed from plugins.dir", s.bundle.name)))
}

// Close stops every process and waits for it. Calls in flight have up to five seconds.
func (h *Host) Close() {
	h.stop()
	h.wait.Wait()
	if err := os.RemoveAll(h.runDir); err != nil {
		h.log.Warn("remove the folder of plugin sockets", "error", err)
	}
}

// Bundles returns the state of every bundle, built-in ones first.
func (h *Host) Bundles() []Status {
	var all []Status
	for _, s := range h.supervisors() {
		if s.bundle.remote == nil { // which has no process here
			all = append(all, s.Status())
		}
	}
	return all
}

// Types returns every known type of kind k, sorted by name.
func (h *Host) Types(k kind.Kind) []kind.Type {
	var types []kind.Type
	for _, s := range h.supervisors() {
		for _, t := range s.types() {
			if t.Kind == k {
				types = append(types, t)
			}
		}
	}
	slices.SortFunc(types, func(a, b kind.Type) int { return strings.Compare(a.Name, b.Name) })
	return types
}

// Find returns the supervisor of the bundle that holds a type, and the type.
func (h *Host) Find(k kind.Kind, name string) (*Supervisor, kind.Type, bool) {
	for _, s := range h.supervisors() {
		for _, t := range s.types() {
			if t.Kind == k && t.Name == name {
				return s, t, true
			}
		}
	}
	return nil, kind.Type{}, false
}

// Bundle returns the supervisor of the bundle called name.
func (h *Host) Bundle(name string) (*Supervisor, bool) {
	for _, s := range h.supervisors() {
		if s.bundle.name == name {
			return s, true
		}
	}
	return nil, false
}

// grants returns the capabilities that a third-party bundle is given.
func (h *Host) grants(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.granted[name]
}

func (h *Host) supervisors() []*Supervisor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.bundles)
}
