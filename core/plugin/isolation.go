package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	// User is who they run as, where Dogwatch is root; nil for one of its own for each.
	User *User
	// Limits returns what a bundle may use, by its name; nil for DefaultLimits.
	Limits func(name string) Limits
	// Private are folders and files of Dogwatch that no option of a component opens by being near them.
	Private []string
}

// confinement is what one process may do. The nil confinement is that of a built-in bundle
// with all rights of Dogwatch.
type confinement struct {
	rules sandbox.Rules
	// free says why it keeps all rights of Dogwatch; "" when rules apply.
	free string
	// dir is its own folder, for its socket and what it writes for a while.
	dir string
	// program is the file that is started, that of the bundle or a copy, copied the folder of the copy.
	program, copied string
	// user is who it runs as; nil for the user of Dogwatch. ownUser is true where no other bundle has it.
	user    *User
	ownUser bool
	// limits hold for a third-party bundle, in its group as far as that has what it takes.
	limits Limits
	group  *group
	// paths are what its options and the configuration open.
	paths []string
	seen  []seenFile
	// without says why it has no group, or one that lacks something.
	without string
	// lacks say what does not hold, or does not work, and why, before what held says.
	lacks []string
	held  sandbox.Held
}

// seenFile is a single file that may be replaced by another, of which a rule knows nothing.
type seenFile struct {
	path string
	info fs.FileInfo // nil while there is none
	// option is true for one that an option names, and false for one of the system.
	option bool
}

// confine says what the next process of a bundle may do, with the instances that it is going to have.
func (h *Host) confine(b bundle, specs []pluginclient.Instance) (_ *confinement, err error) {
	iso := h.opt.Isolation
	if b.builtin {
		if iso.Off || b.name != string(kind.Registry) {
			return nil, nil
		}
		dir, err := h.ownDir()
		// It starts credential helpers, which read what they need.
		return &confinement{program: b.path, dir: dir, rules: sandbox.Rules{KeepCapabilities: true}}, err
	}
	c := &confinement{program: b.path, limits: DefaultLimits()}
	if iso.Limits != nil {
		c.limits = iso.Limits(b.name)
	}
	if c.dir, err = h.ownDir(); err != nil {
		return nil, err
	}
	grants := h.grants(b.name)
	switch {
	case iso.Off:
		c.free = "plugins.isolated is false"
	case slices.Contains(grants, kind.CapEngine):
		c.free = "it is granted the engine, and with it the machine"
	case slices.Contains(grants, kind.CapFiles):
		c.rules.KeepCapabilities = true
		c.lacks = []string{"files and who may use them: it is granted files"}
	default:
		err = h.restrict(c, b, specs)
	}
	if err == nil {
		c.group, err = h.groups().make(b.name, c.limits)
	}
	if err != nil {
		c.remove()
		return nil, err
	}
	c.without = h.groups().why
	return c, nil
}

// restrict limits c to what the instances need.
func (h *Host) restrict(c *confinement, b bundle, specs []pluginclient.Instance) error {
	if err := h.asUser(c, b); err != nil {
		return err
	}
	for _, spec := range specs {
		for _, path := range namedPaths(spec) {
			opened := h.opens(path)
			if opened == "" {
				continue
			}
			c.paths = append(c.paths, opened)
			c.see(path, opened)
		}
	}
	c.paths = append(c.paths, h.opt.Isolation.Paths[b.name]...)
	for _, path := range h.opt.Isolation.Paths[b.name] {
		c.checkUser(path)
	}
	slices.Sort(c.paths)
	c.paths = slices.Compact(c.paths)
	c.rules.Write = append([]string{c.dir, "/dev/null", "/dev/zero", "/dev/full"}, c.paths...)
	c.rules.Read = append(h.readable(b), c.program)
	for _, path := range replacedFiles() {
		info, _ := os.Stat(path)
		c.seen = append(c.seen, seenFile{path: path, info: info})
	}
	return nil
}

// start starts the process of c, restricted.
func (c *confinement) start(process *child) error {
	return sandbox.Thread(func() (err error) {
		if c.held, err = sandbox.Enter(c.rules); err != nil {
			return fmt.Errorf("isolate the plugin (plugins.isolated: false leaves it all rights): %w", err)
		}
		return process.cmd.Start()
	}, func() { <-process.exited })
}

// restricted reports whether rules apply to a process.
func (c *confinement) restricted() bool { return c != nil && c.free == "" }

// covers reports whether a process may do what an instance needs.
func (c *confinement) covers(h *Host, spec pluginclient.Instance) bool {
	if !c.restricted() || len(c.rules.Write) == 0 {
		return true
	}
	return !slices.ContainsFunc(namedPaths(spec), func(path string) bool {
		opened := h.opens(path)
		return opened != "" && !slices.Contains(c.paths, opened)
	})
}

// see makes the file that an option names where a rule is about it alone, since a rule needs a
// file, or where the user of c could not, and remembers which one it is.
func (c *confinement) see(path, opened string) {
	alone := path == opened
	if alone || c.user != nil && c.user.closed(filepath.Dir(path), writing|passing) != "" {
		if f, err := makeFile(path); err == nil {
			if c.user != nil {
				_ = f.Chown(int(c.user.UID), int(c.user.GID)) // the plugin says what it cannot write
			}
			f.Close()
		}
	}
	if info, err := os.Stat(path); alone && err == nil && info.Mode().IsRegular() {
		c.seen = append(c.seen, seenFile{path: path, info: info, option: true})
	}
	c.checkUser(path)
}

// makeFile makes a file that is not there, in the folder that its path names without links: a plugin may
// have put one in the place of a folder that it may write.
func makeFile(path string) (*os.File, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := stands(dir, filepath.Dir(path)); err != nil {
		return nil, err
	}
	return dir.OpenFile(filepath.Base(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// checkUser notes it when a path is closed to the user of c.
func (c *confinement) checkUser(path string) {
	if c.user == nil {
		return
	}
	want := reading
	if info, err := os.Stat(path); err != nil {
		return // it may be made later
	} else if info.IsDir() {
		want |= passing
	}
	if closed := c.user.closed(path, want); closed != "" {
		c.lacks = append(c.lacks,
			fmt.Sprintf("access to %s: %s is closed to user %d, as whom the plugin runs: let that user read it, or name another in plugins.user",
				path, closed, c.user.UID))
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

// remove removes its folders and its group.
func (c *confinement) remove() {
	if c == nil {
		return
	}
	c.group.remove()
	_ = os.RemoveAll(c.dir) // the host's folder goes, too, in the end
	if c.copied != "" {
		_ = os.RemoveAll(c.copied)
	}
}

// environment is what differs from that of other processes.
func (c *confinement) environment() []string {
	if c == nil {
		return nil
	}
	env := []string{goplugin.EnvUnixSocketDir + "=" + c.dir, "TMPDIR=" + c.dir}
	if c.user != nil {
		env = append(env, "HOME="+c.dir)
	}
	return env
}
