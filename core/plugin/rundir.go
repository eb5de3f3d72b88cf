package plugin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// makeRunDir makes a folder for sockets, and for what plugins write for a while, in the first of
// dirs that can hold one, and removes what killed hosts left there. Others can read nothing
// in it, but the users of plugins, if there are any, reach their own folders through it.
func makeRunDir(dirs []string, iso Isolation) (string, error) {
	others := os.Geteuid() == 0 && !iso.Off && (iso.User == nil || iso.User.UID != 0) && cannotSwitch() == ""
	var problems []error
	for _, parent := range append(dirs, os.TempDir()) {
		dir, err := tryRunDir(parent, others)
		if err == nil {
			return dir, nil
		}
		problems = append(problems, err)
	}
	return "",
		fmt.Errorf("make a folder for plugin sockets (set store.path or TMPDIR to a writable local folder with a short path): %w", errors.Join(problems...))
}

// RunDirs returns the folders to try for sockets and temporary files, best first: those that do not
// fill the volume of the store.
func RunDirs(store string) (dirs []string) {
	for _, dir := range []string{os.TempDir(), "/dev/shm"} {
		if !sameVolume(dir, store) {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, store)
}

const runDirPrefix = "dogwatch-run-"

func tryRunDir(parent string, others bool) (string, error) {
	if parent == "" || len(parent) > maxSocketDir {
		return "", fmt.Errorf("%q: the path must have 1 to %d bytes", parent, maxSocketDir)
	}
	removeStale(parent)
	if someone := (&User{UID: nobody, GID: nobody}); others && someone.closed(parent, passing) != "" {
		return "", fmt.Errorf("%s is closed to other users, as whom plugins run", parent)
	}
	dir, err := os.MkdirTemp(parent, runDirPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", err
	}
	// Some network file systems cannot hold sockets.
	// The name is as long as those of plugins get, in the folder of a process.
	l, err := net.Listen("unix", filepath.Join(dir, rand.Text()[:ownDirName]+"-plugin1234567890"))
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	l.Close()
	if others {
		err = os.Chmod(dir, 0o711)
	}
	return dir, err
}

// nobody is the customary number of a user that owns nothing.
const nobody = 65534

// ownDirName is how long the name of the folder of a process is: long enough that others cannot guess it.
const ownDirName = 13

// ownDirForm reports whether a path is like that of the folder of a process, and not one that a
// process has made within its own.
func ownDirForm(dir string) bool {
	parent := filepath.Dir(dir)
	return len(filepath.Base(dir)) == ownDirName && strings.HasPrefix(filepath.Base(parent), runDirPrefix) &&
		!strings.Contains(filepath.Dir(parent), runDirPrefix)
}

// ownDir makes the folder of a process.
func (h *Host) ownDir() (string, error) {
	dir := filepath.Join(h.runDir, rand.Text()[:ownDirName])
	return dir, os.Mkdir(dir, 0o700)
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
