package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The layout, where a control group of version 2 was given to Dogwatch (cgroups(7), and "Control Group v2" of
// the kernel's documentation): a group has either processes or groups that its controllers bound.
//
//	given/dogwatch             Dogwatch itself, and what is built in
//	given/plugins-PID/NAME-N   a process of a third-party bundle, with all that comes of it
const (
	ownLeaf       = "dogwatch"
	pluginsPrefix = "plugins-"
)

// controllers are those that bound what a bundle uses.
func controllers() []string { return []string{"memory", "pids", "cpu"} }

// groups are what this process has of control groups.
type groups struct {
	// dir holds the groups of bundles; "" when there are none.
	dir string
	// has are the controllers in it.
	has []string
	// why says why there are none, or not all.
	why string
}

// openGroups takes the control group that this process is in, where it was given to it.
func openGroups() *groups {
	given, why := givenGroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if why != "" {
		return &groups{why: why}
	}
	g, err := prepareGroups(given)
	if err != nil {
		return &groups{why: err.Error()}
	}
	return g
}

// givenGroup returns the folder of the control group that this process may divide, or why there is none.
func givenGroup(mountsFile, ownFile string) (dir, why string) {
	root, point := "", ""
	mounts, _ := os.ReadFile(mountsFile)
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before) // proc_pid_mountinfo(5)
		if kind := strings.Fields(after); len(fields) > 4 && len(kind) > 0 && kind[0] == "cgroup2" {
			root, point = fields[3], fields[4]
		}
	}
	own, _ := os.ReadFile(ownFile)
	path := ""
	for line := range strings.Lines(string(own)) {
		if below, found := strings.CutPrefix(line, "0::"); found {
			path = strings.TrimSuffix(below, "\n")
		}
	}
	if point == "" || path == "" {
		return "", "there are no control groups of version 2 here"
	}
	inside, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(inside, "..") {
		return "", "the control group of Dogwatch is not mounted here"
	}
	dir = filepath.Join(point, inside)
	if filepath.Base(dir) == ownLeaf { // another Dogwatch in it has divided what is above
		dir, path = filepath.Dir(dir), filepath.Dir(path)
	}
	if err := unix.Access(dir, unix.W_OK); errors.Is(err, unix.EROFS) {
		return "", "its control group cannot be written (Docker 28 and later: security_opt writable-cgroups=true)"
	} else if err != nil {
		return "", "its control group belongs to another user"
	}
	if info, err := os.Stat(dir); path != "/" && err == nil { // "/" is that of a container, or of the machine
		uid, _ := ownerOf(info)
		if (uid == 0 || int(uid) != os.Geteuid()) && !delegated(dir) {
			return "", "its control group was not given to it (systemd: Delegate=yes)"
		}
	}
	return dir, ""
}

// delegated reports whether systemd gave a group away.
func delegated(dir string) bool {
	value := make([]byte, 1)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, value); err == nil && n == 1 && value[0] == '1' {
			return true
		}
	}
	return false
}

// prepareGroups divides a group. Nothing but this process and what came of it is moved; the group of the machine
// may have processes beside groups, and is left as it is.
func prepareGroups(given string) (*groups, error) {
	_, err := os.Stat(filepath.Join(given, "cgroup.type"))
	machine := errors.Is(err, fs.ErrNotExist)
	if !machine {
		if err := moveToLeaf(given); err != nil {
			return nil, err
		}
	}
	removeStaleGroups(given)
	g := &groups{dir: filepath.Join(given, pluginsPrefix+strconv.Itoa(os.Getpid()))}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("its control group cannot be divided: %w", err)
	}
	there, _ := os.ReadFile(filepath.Join(given, "cgroup.controllers"))
	var missing []string
	for _, name := range controllers() {
		if !slices.Contains(strings.Fields(string(there)), name) || enable(given, name) != nil || enable(g.dir, name) != nil {
			missing = append(missing, name)
			continue
		}
		g.has = append(g.has, name)
	}
	if len(missing) > 0 {
		g.why = "its control group lacks " + strings.Join(missing, ", ")
	}
	return g, nil
}

// moveToLeaf moves this process into a group of its own below given, which must have no others.
func moveToLeaf(given string) error {
	inside, err := os.ReadFile(filepath.Join(given, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("its control group cannot be read: %w", err)
	}
	own := strconv.Itoa(os.Getpid())
	for _, pid := range strings.Fields(string(inside)) {
		if pid != own && !descends(pid) {
			return fmt.Errorf("process %s shares its control group", pid)
		}
	}
	leaf := filepath.Join(given, ownLeaf)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("its control group cannot be divided: %w", err)
	}
	for _, pid := range strings.Fields(string(inside)) {
		if err := write(leaf, "cgroup.procs", pid); err != nil && pid == own {
			return fmt.Errorf("its control group cannot be divided: %w", err)
		}
	}
	return nil
}

// descends reports whether a process came of this one, as those of built-in bundles do.
func descends(pid string) bool {
	parents := map[int]int{}
	for _, e := range entries() {
		parents[e.pid] = e.parent
	}
	number, _ := strconv.Atoi(pid)
	for number > 1 && number != os.Getpid() {
		number = parents[number]
	}
	return number == os.Getpid()
}

// removeStaleGroups ends what hosts that were killed left in their groups.
func removeStaleGroups(given string) {
	old, _ := filepath.Glob(filepath.Join(given, pluginsPrefix+"*"))
	for _, dir := range old {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), pluginsPrefix))
		if err != nil || pid == os.Getpid() || alive(pid) {
			continue
		}
		inner, _ := filepath.Glob(filepath.Join(dir, "*-*"))
		for _, one := range inner {
			(&group{dir: one}).remove()
		}
		_ = os.Remove(dir) // the next start tries again
	}
}

func enable(dir, controller string) error {
	return write(dir, "cgroup.subtree_control", "+"+controller)
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
}

// group is the control group of one process. The nil group is that of one that has none.
type group struct {
	dir string
	has []string
	// max is how often a process could not be started, when that was said last.
	max int64
}

// make makes a group with limits.
func (g *groups) make(name string, l Limits) (*group, error) {
	if g.dir == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp(g.dir, strings.Map(func(r rune) rune {
		if r == '*' || r == '/' {
			return '_'
		}
		return r
	}, name)+"-")
	if err != nil {
		return nil, err
	}
	child := &group{dir: dir, has: g.has}
	settings := map[string]string{}
	if child.bounds("memory") && l.Memory > 0 {
		settings["memory.max"], settings["memory.oom.group"] = strconv.FormatInt(l.Memory, 10), "1"
		if _, err := os.Stat(filepath.Join(dir, "memory.swap.max")); err == nil {
			settings["memory.swap.max"] = "0"
		}
	}
	if child.bounds("pids") && l.Processes > 0 {
		settings["pids.max"] = strconv.Itoa(l.Processes)
	}
	if child.bounds("cpu") && l.CPU > 0 {
		const period = 100_000 // microseconds
		settings["cpu.max"] = fmt.Sprintf("%d %d", max(1000, int64(l.CPU*period)), period)
	}
	for file, text := range settings {
		if err := write(dir, file, text); err != nil {
			child.remove()
			return nil, err
		}
	}
	return child, nil
}

// take moves the process with all that has come of it so far.
func (g *group) take(o *offspring) error {
	if g == nil {
		return nil
	}
	if err := write(g.dir, "cgroup.procs", strconv.Itoa(o.leader)); err != nil {
		return fmt.Errorf("move it into its control group: %w", err)
	}
	// What it has started since its own start is elsewhere; what it starts from now on is not.
	for more := true; more; {
		more = false
		inside, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
		for _, pid := range o.living(entries()) {
			if text := strconv.Itoa(pid); !slices.Contains(strings.Fields(string(inside)), text) &&
				write(g.dir, "cgroup.procs", text) == nil {
				more = true
			}
		}
	}
	return nil
}

// bounds reports whether a controller bounds the group.
func (g *group) bounds(controller string) bool { return g != nil && slices.Contains(g.has, controller) }

// kill ends all in the group (cgroup.kill, Linux 5.14).
func (g *group) kill() {
	if g != nil {
		_ = write(g.dir, "cgroup.kill", "1") // each is ended by its number, too
	}
}

// remove ends all in the group and removes it.
func (g *group) remove() {
	if g == nil {
		return
	}
	for began := time.Now(); time.Since(began) < time.Second; time.Sleep(time.Millisecond) {
		g.kill()
		if err := os.Remove(g.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// crowded reports whether a process could not be started since it was asked last.
func (g *group) crowded() bool {
	if !g.bounds("pids") {
		return false
	}
	before := g.max
	g.max = g.event("pids.events", "max")
	return g.max > before
}

// starved reports whether the kernel ended the group for its memory.
func (g *group) starved() bool { return g.bounds("memory") && g.event("memory.events", "oom_kill") > 0 }

// event returns how often something happened.
func (g *group) event(file, name string) (n int64) {
	text, _ := os.ReadFile(filepath.Join(g.dir, file))
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) == 2 && fields[0] == name {
			n, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return n
}
