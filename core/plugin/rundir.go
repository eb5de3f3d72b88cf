package plugin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// makeRunDir makes a private folder for sockets in the first of dirs that can
// hold one, and removes what killed hosts left there.
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
	// The name is as long as those of plugins get, in the folder of a process.
	l, err := net.Listen("unix", filepath.Join(dir, "9999-plugin1234567890"))
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
