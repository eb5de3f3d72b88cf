package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/sandbox"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// Isolation says what third-party bundles may do beside what they are granted.
type Isolation struct {
	// Off leaves them all rights of Dogwatch.
	Off bool
	// Paths are folders and files that a bundle may read and write, by its name.
	Paths map[string][]string
	// User is who they run as, where Dogwatch is root; nil for Dogwatch's own.
	User *User
	// Private are folders and files of Dogwatch that no option of a component opens by being near them.
	Private []string
}

// User is a user of the system.
type User struct{ UID, GID uint32 }

// Isolated is what holds for a third-party bundle, as users see it.
type Isolated struct {
	// Holds are what is restricted: "files", "system calls", "rights of root", "user".
	Holds []string `json:"holds"`
	// Lacks say what is not, and why.
	Lacks []string `json:"lacks,omitempty"`
	// Paths are what it may read and write by its options and by plugins.paths.
	Paths []string `json:"paths,omitempty"`
}

// String says it in a sentence: "isolated: files (Landlock, version 7), system calls (seccomp)".
func (i *Isolated) String() string {
	text := "not isolated"
	if len(i.Holds) > 0 {
		text = "isolated: " + strings.Join(i.Holds, ", ")
	}
	if len(i.Lacks) > 0 {
		text += "; not restricted: " + strings.Join(i.Lacks, "; ")
	}
	return text
}

// confinement is what one process may do. The nil confinement is that of a process with all rights of Dogwatch.
type confinement struct {
	rules sandbox.Rules
	// dir is its own folder, for its socket and what it writes for a while; "" for a bundle that is built in.
	dir  string
	user *User
	// paths are what its options and the configuration open.
	paths []string
	seen  []seenFile
	held  sandbox.Held
}

// seenFile is a single file that may be replaced by another, of which a rule knows nothing.
type seenFile struct {
	path string
	info fs.FileInfo // nil while there is none
	// option is true for one that an option names, and false for one of the system.
	option bool
}

// confine says what the next process of a bundle may do, with the instances that it
// is going to have. why is set when it keeps all rights.
func (h *Host) confine(b bundle, specs []pluginclient.Instance) (_ *confinement, why string, err error) {
	iso := h.opt.Isolation
	switch {
	case iso.Off:
		return nil, "plugins.isolated is false", nil
	case b.builtin && b.name == string(kind.Registry): // it starts credential helpers, which read what they need
		return &confinement{rules: sandbox.Rules{KeepCapabilities: true}}, "", nil
	case b.builtin:
		return nil, "", nil
	case slices.Contains(h.grants(b.name), kind.CapEngine):
		return nil, "it is granted the engine, and with it the machine", nil
	case slices.ContainsFunc(specs, isWatcher):
		return nil, watcherNeeds, nil
	}
	c := &confinement{dir: filepath.Join(h.runDir, strconv.FormatInt(h.launches.Add(1), 10))}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return nil, "", err
	}
	if os.Geteuid() == 0 && iso.User != nil {
		c.user = iso.User
		err = os.Chown(c.dir, int(c.user.UID), int(c.user.GID))
		if err == nil {
			err = os.Chmod(h.runDir, 0o711) // its own folder is closed to others
		}
	}
	if err != nil {
		c.remove()
		return nil, "", err
	}
	for _, spec := range specs {
		c.paths = append(c.paths, h.optionPaths(spec)...)
	}
	c.seeOptions()
	c.paths = append(c.paths, iso.Paths[b.name]...)
	slices.Sort(c.paths)
	c.paths = slices.Compact(c.paths)
	c.rules.Write = append([]string{c.dir, "/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}, c.paths...)
	c.rules.Read = h.readable(b)
	for _, path := range replacedFiles() {
		info, _ := os.Stat(path)
		c.seen = append(c.seen, seenFile{path: path, info: info})
	}
	return c, "", nil
}

// watcherNeeds is why a bundle with a watcher keeps all rights.
const watcherNeeds = "it is a watcher, which needs its engine"

func isWatcher(spec pluginclient.Instance) bool { return spec.Kind == kind.Watcher }

// start starts the process of c, restricted.
func (c *confinement) start(process *child) error {
	return sandbox.Thread(func() (err error) {
		if c.held, err = sandbox.Enter(c.rules); err != nil {
			return fmt.Errorf("isolate the plugin (plugins.isolated: false leaves it all rights): %w", err)
		}
		return process.cmd.Start()
	}, func() { <-process.exited })
}

// covers reports whether a process may do what an instance needs.
func (c *confinement) covers(h *Host, spec pluginclient.Instance) bool {
	if c == nil || c.dir == "" {
		return true
	}
	missing := func(path string) bool { return !slices.Contains(c.paths, path) }
	return !isWatcher(spec) && !slices.ContainsFunc(h.optionPaths(spec), missing)
}

// seeOptions makes the single files that options name, since a rule needs a file, and remembers which they are.
func (c *confinement) seeOptions() {
	for _, path := range c.paths {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			if c.user != nil {
				_ = f.Chown(int(c.user.UID), int(c.user.GID)) // the plugin says what it cannot write
			}
			f.Close()
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			c.seen = append(c.seen, seenFile{path: path, info: info, option: true})
		}
	}
}

// outdated reports whether a file was replaced by another, which the process cannot open.
func (c *confinement) outdated() bool {
	return c != nil && c.held.Files > 0 && slices.ContainsFunc(c.seen, func(f seenFile) bool {
		now, err := os.Stat(f.path)
		if err != nil {
			return f.option && errors.Is(err, fs.ErrNotExist)
		}
		return f.info == nil || !os.SameFile(now, f.info)
	})
}

// remove removes its folder.
func (c *confinement) remove() {
	if c != nil && c.dir != "" {
		_ = os.RemoveAll(c.dir) // the host's folder goes, too, in the end
	}
}

// environment is what differs from that of other processes.
func (c *confinement) environment() []string {
	if c == nil || c.dir == "" {
		return nil
	}
	env := []string{goplugin.EnvUnixSocketDir + "=" + c.dir, "TMPDIR=" + c.dir}
	if c.user != nil {
		env = append(env, "HOME="+c.dir)
	}
	return env
}

// isolated is what holds in words; why says why all rights were kept.
func (c *confinement) isolated(iso Isolation, why string) *Isolated {
	state := &Isolated{Holds: []string{}}
	if c == nil && why == "" {
		return nil
	}
	if c == nil {
		state.Lacks = []string{"anything, since " + why}
		return state
	}
	if c.held.Files > 0 {
		state.Holds = append(state.Holds, fmt.Sprintf("files (Landlock, version %d)", c.held.Files))
		if c.held.Files < sandbox.UnixSockets {
			state.Lacks = append(state.Lacks, fmt.Sprintf("connections to sockets in the file system, such as that of an engine: the kernel has that from version %d of Landlock on", sandbox.UnixSockets))
		}
	}
	if c.held.Calls {
		state.Holds = append(state.Holds, "system calls (seccomp)")
	}
	if c.held.Capabilities {
		state.Holds = append(state.Holds, "rights of root")
	}
	switch {
	case c.user != nil:
		state.Holds = append(state.Holds, fmt.Sprintf("user %d", c.user.UID))
	case iso.User != nil:
		state.Lacks = append(state.Lacks, "plugins.user: only root can start programs as another user")
	}
	state.Lacks = append(state.Lacks, c.held.Lacks...)
	state.Paths = c.paths
	for _, path := range c.paths {
		if _, err := os.Stat(path); err != nil {
			state.Lacks = append(state.Lacks, "access to "+path+": it was not there when the plugin was started")
		}
	}
	return state
}

// beforeStart is what holds for a bundle with these types and instances: a process that was
// started to learn the types is restricted, and one with a watcher of them would not be.
func (i *Isolated) beforeStart(held []kind.Type, specs []pluginclient.Instance) *Isolated {
	watches := func(t kind.Type) bool { return t.Kind == kind.Watcher }
	others := func(t kind.Type) bool { return !watches(t) }
	switch {
	case i == nil || len(i.Holds) == 0 || slices.ContainsFunc(specs, isWatcher) || !slices.ContainsFunc(held, watches):
		return i
	case !slices.ContainsFunc(held, others):
		var none *confinement
		return none.isolated(Isolation{}, watcherNeeds)
	}
	state := *i
	state.Lacks = append(slices.Clone(i.Lacks), "anything, once a watcher of it is configured, which needs its engine")
	return &state
}

// forbidden are the ways in which programs say that they were not permitted to do something.
var forbidden = []string{"permission denied", "operation not permitted", "eacces", "eperm"}

// hint says of a failure that looks like one of the isolation how to permit more; "" for others.
func (c *confinement) hint(bundle, failure string) string {
	if c == nil || c.dir == "" || !c.held.Calls && c.held.Files == 0 && c.user == nil {
		return ""
	}
	failure = strings.ToLower(failure)
	if !slices.ContainsFunc(forbidden, func(text string) bool { return strings.Contains(failure, text) }) {
		return ""
	}
	as := ""
	if c.user != nil {
		as = fmt.Sprintf(", and runs as user %d", c.user.UID)
	}
	return fmt.Sprintf("; plugin %s is isolated%s: if it needs a file or folder that is not near one of its options, add %s=/path to plugins.paths", bundle, as, bundle)
}

// explainIsolation adds the hint to an error of a process.
func (p *process) explainIsolation(bundle string, err error) error {
	if err == nil {
		return nil
	}
	if hint := p.confined.hint(bundle, err.Error()); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}
