package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// socket is what the file system shows of the path of a socket.
type socket struct {
	path     string
	missing  bool
	folder   bool // there is a folder of that name
	other    bool // there is something else that is no socket
	hidden   bool // a folder above it may not be entered
	uid, gid int
	known    bool // whether uid and gid are
	mode     fs.FileMode
}

func statSocket(path string) socket {
	s := socket{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.missing = true
	case err != nil:
		s.hidden = true
	default:
		s.mode = info.Mode()
		s.folder = info.IsDir()
		s.other = !s.folder && s.mode&fs.ModeSocket == 0
		s.uid, s.gid, s.known = owner(info)
	}
	return s
}

// identity is the user and the groups of a process.
type identity struct {
	uid    int
	groups []int
}

func us() identity {
	groups, _ := os.Getgroups()
	return identity{os.Geteuid(), append(groups, os.Getegid())}
}

// remedy says what to do so that this identity may use the socket; "" when it may.
func (s socket) remedy(who identity) string {
	const writable = 0o2 // connecting needs the right to write, see unix(7)
	switch {
	case s.missing:
		return fmt.Sprintf("start the engine; if dogwatch runs in a container, mount the socket into it: %s:%s", s.path,
			s.path)
	case s.folder:
		return s.path +
			" is a folder: Docker makes one when it mounts a socket that does not exist; remove it, start the engine, and make the container of dogwatch anew"
	case s.other:
		return s.path + " is no socket: set socket to the path of the engine's"
	case s.hidden:
		return "a folder above " + s.path + " may not be entered: " + ourUser()
	case !s.known || who.uid == 0:
		return ""
	case who.uid == s.uid:
		if s.mode.Perm()>>6&writable == 0 {
			return "chmod u+w " + s.path
		}
		return ""
	case slices.Contains(who.groups, s.gid):
		if s.mode.Perm()>>3&writable == 0 {
			return "its group may not use it: chmod g+w " + s.path + ", or use a socket proxy"
		}
		return ""
	case s.mode.Perm()&writable != 0:
		return ""
	}
	name := ""
	if g, err := user.LookupGroupId(strconv.Itoa(s.gid)); err == nil {
		name = " (" + g.Name + ")"
	}
	if s.gid == 0 || s.mode.Perm()>>3&writable == 0 {
		return fmt.Sprintf("dogwatch runs as user %d, and only user %d may use %s: use a socket proxy, or run dogwatch as that user", who.uid, s.uid, s.path)
	}
	return fmt.Sprintf("%s belongs to group %d%s, of which user %d is not: add group_add: [\"%d\"] to the service, --group-add %d to docker run, or use a socket proxy",
		s.path, s.gid, name, who.uid, s.gid, s.gid)
}
