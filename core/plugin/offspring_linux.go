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
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
)

// entry is a process of the system (proc_pid_stat(5)).
type entry struct {
	pid, parent, group, session int
	zombie                      bool
}

// entries returns all processes that can be seen.
func entries() (all []entry) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	text := make([]byte, 4096) // more than a line of numbers has
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // not of a process
		}
		fd, err := unix.Openat(int(dir.Fd()), name+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it has ended
		}
		n, _ := unix.Read(fd, text)
		unix.Close(fd)
		line := text[:max(n, 0)]
		after := bytes.SplitN(line[bytes.LastIndexByte(line, ')')+1:], []byte(" "), 6) // the name before may hold anything
		if len(after) < 6 {
			continue
		}
		e := entry{pid: pid, zombie: string(after[1]) == "Z" || string(after[1]) == "X"}
		for i, field := range []*int{&e.parent, &e.group, &e.session} {
			if *field, err = strconv.Atoi(string(after[i+2])); err != nil {
				break
			}
		}
		if err == nil {
			all = append(all, e)
		}
	}
	return all
}

// offspring is the process of a third-party bundle with all that came of it.
type offspring struct {
	leader int
	c      *confinement
}

// all returns those of the processes of the system that came of the leader, of which all is a list: what is in its
// session or its group, and what came of that; and of the processes whose parents have ended,
// which Dogwatch adopts (adopt), those that are marked.
func (o *offspring) all(all []entry) (found []entry) {
	adopted := orphans()
	in := map[int]bool{}
	for more := true; more; {
		more = false
		for _, e := range all {
			if in[e.pid] || e.pid != o.leader && e.session != o.leader && e.group != o.leader && !in[e.parent] &&
				!(slices.Contains(adopted, e.pid) && o.marked(e.pid)) {
				continue
			}
			in[e.pid], more = true, true
			found = append(found, e)
		}
	}
	return found
}

// living returns the numbers of those that have not ended.
func (o *offspring) living(all []entry) (pids []int) {
	for _, e := range o.all(all) {
		if !e.zombie {
			pids = append(pids, e.pid)
		}
	}
	return pids
}

// marked reports whether an orphan came of the leader: its environment names the leader's folder; or its user is the
// leader's own, and no folder of another process of that user is named. One that is restricted as plugins are
// and names no folder of a process that runs has been made to hide whose it is, and counts as anybody's.
func (o *offspring) marked(pid int) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	its, err := os.Stat(proc)
	if err != nil {
		return false // it has ended
	}
	uid, _ := ownerOf(its)
	own := o.c.ownUser && uid == o.c.user.UID
	env, _ := os.ReadFile(proc + "/environ")
	for name := range strings.SplitSeq(string(env), "\x00") {
		if dir, ok := strings.CutPrefix(name, goplugin.EnvUnixSocketDir+"="); ok {
			if dir == o.c.dir {
				return true
			}
			if ofUser(dir, uid) && ofUser(filepath.Dir(dir), uint32(os.Geteuid())) && ownDirForm(dir) {
				return false
			}
		}
	}
	return own || !o.c.ownUser && filters("self") < filters(strconv.Itoa(pid))
}

// ofUser reports whether a file is there and belongs to a user.
func ofUser(path string, uid uint32) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	owner, _ := ownerOf(info)
	return owner == uid
}

// filters returns how many filters of system calls a process has (proc_pid_status(5)): none of one that is ending,
// whose memory is gone, and with it the environment that says whose it is.
func filters(pid string) (n int) {
	text, _ := os.ReadFile("/proc/" + pid + "/status")
	memory, after, found := strings.Cut(string(text), "\nSeccomp_filters:")
	if found && strings.Contains(memory, "\nVmSize:") {
		_, _ = fmt.Sscan(after, &n) // 0 where there is no number
	}
	return n
}

// endTime bounds how long what a process leaves behind is ended again and again.
const endTime = 5 * time.Second

// end ends all that came of the leader, which has ended and is not collected yet, so that nothing
// else has its number. It returns how many there were, the leader left out.
func (o *offspring) end() (left int) {
	for began := time.Now(); time.Since(began) < endTime; time.Sleep(time.Millisecond) {
		living := 0
		for _, e := range o.all(entries()) {
			switch {
			case e.pid == o.leader:
			case e.zombie && e.parent == os.Getpid():
				_, _ = unix.Wait4(e.pid, nil, unix.WNOHANG, nil)
			case !e.zombie:
				living++
				_ = unix.Kill(e.pid, unix.SIGKILL) // it may have ended
			}
		}
		left = max(left, living)
		o.c.group.kill()
		if living == 0 {
			break
		}
	}
	return left
}

// adopt makes this process the parent of all that comes of it and whose own parents end (prctl(2),
// PR_SET_CHILD_SUBREAPER).
func adopt() error {
	return os.NewSyscallError("prctl child_subreaper", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// orphans are the processes that this one has adopted: children of its first thread, by which it starts
// no restricted process (sandbox.Thread).
func orphans() (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())) // CONFIG_PROC_CHILDREN
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// orphanage collects the exit codes of orphans, so that their numbers become free.
type orphanage struct {
	// seen is when an ended one was first seen that could be a process of another's own.
	seen map[int]time.Time
}

// patience is how long the code that has started a process gets to collect it.
const patience = time.Minute

// collect collects what has ended.
func (o *orphanage) collect() {
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); err != nil ||
		info.Signo == 0 {
		o.seen = nil
		return // nothing has ended
	}
	own, _ := unix.Getsid(0)
	before := o.seen
	o.seen = map[int]time.Time{}
	for _, e := range entries() {
		if e.parent != os.Getpid() || !e.zombie || e.session == own {
			continue
		}
		since, known := before[e.pid]
		if !known {
			since = time.Now()
		}
		// Who starts a session is a bundle's process, or a daemon of one.
		if e.pid != e.session && slices.Contains(orphans(), e.pid) || time.Since(since) > patience {
			_, _ = unix.Wait4(e.pid, nil, unix.WNOHANG, nil)
			continue
		}
		o.seen[e.pid] = since
	}
}

// threads returns how many threads the system has (proc_loadavg(5)).
func threads() (n int, known bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	var load float64
	var running int
	_, err = fmt.Sscanf(string(text), "%f %f %f %d/%d", &load, &load, &load, &running, &n)
	return n, err == nil
}

// freeSpace returns how many bytes are free on the volume of a folder; 0 when that is not known.
func freeSpace(dir string) int64 {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0
	}
	return int64(stat.Bfree) * int64(stat.Bsize)
}

// usage returns how many bytes are in a folder, and in files that processes have open there and have
// removed, as far as those can be seen. A file counts as a block of 4 KiB at least, so that their number is bounded,
// too.
func usage(dir string, pids []int) (total int64) {
	add := func(info os.FileInfo, err error) {
		if err != nil {
			return // it has gone
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			total += max(stat.Blocks, 8) * 512 // stat(2)
		}
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err == nil:
			add(d.Info())
		case errors.Is(err, fs.ErrPermission):
			reopen(path, dir) // it is to be removed in the end, and counts at the next look
		}
		return nil // it may have gone
	})
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			if name, err := os.Readlink(link); err == nil && strings.HasPrefix(name, dir+"/") &&
				strings.HasSuffix(name, " (deleted)") {
				add(os.Stat(link))
			}
		}
	}
	return total
}

// stands returns an error unless an open folder is where a path leads without links (proc_pid_fd(5)).
func stands(dir *os.Root, path string) error {
	self, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	own, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(self.Fd())))
	if err == nil && own != path {
		err = fmt.Errorf("%s is %s now", path, own)
	}
	return err
}

// reopen lets the owner of a folder into a folder below it that has the same owner, and is no link.
func reopen(path, below string) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // it has gone
	}
	defer unix.Close(fd)
	var own, its unix.Stat_t
	if unix.Stat(below, &own) == nil && unix.Fstat(fd, &its) == nil && own.Uid == its.Uid {
		_ = os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
	}
}

// sameVolume reports whether two folders are on one volume. Layers of containers have devices of
// their own, but the space of the volume below.
func sameVolume(a, b string) bool {
	var stats [2]unix.Stat_t
	var spaces [2]unix.Statfs_t
	for i, dir := range []string{a, b} {
		for unix.Stat(dir, &stats[i]) != nil && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir) // which is not there yet
		}
		if unix.Statfs(dir, &spaces[i]) != nil {
			return false
		}
	}
	bytes := func(s unix.Statfs_t) [3]uint64 {
		return [3]uint64{s.Blocks * uint64(s.Bsize), s.Bfree * uint64(s.Bsize), s.Files}
	}
	return stats[0].Dev == stats[1].Dev || spaces[0].Blocks > 0 && bytes(spaces[0]) == bytes(spaces[1])
}
