package plugin

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dogwatch/dogwatch/internal/program"
)

// User is a user of the system.
type User struct{ UID, GID uint32 }

// What a user may do to a file, as in its mode.
const (
	reading fs.FileMode = 4
	writing fs.FileMode = 2
	passing fs.FileMode = 1 // to use a folder, or to execute
)

// closed returns what keeps a user from a file: the folder on its way that the user may not use,
// or the file itself, of which the user lacks a right of want; "" when nothing does. It
// knows modes, not access control lists.
func (u *User) closed(path string, want fs.FileMode) string {
	path = resolved(path)
	if parent := filepath.Dir(path); parent != path {
		if shut := u.closed(parent, passing); shut != "" {
			return shut
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	mode := info.Mode().Perm()
	switch uid, gid := ownerOf(info); {
	case uid == u.UID:
		mode >>= 6
	case gid == u.GID:
		mode >>= 3
	}
	if mode&want != want {
		return path
	}
	return ""
}

// asUser chooses who the process of a bundle runs as, gives it its folder, and the program where
// it may start it.
func (h *Host) asUser(c *confinement, b bundle) error {
	var why string
	if c.user, why = h.userOf(b.name); c.user == nil {
		c.rules.KeepModes = true // the files of Dogwatch are its own
		if why != "" {
			c.lacks = append(c.lacks, why)
		}
		return nil
	}
	c.ownUser = h.opt.Isolation.User == nil
	if err := os.Chown(c.dir, int(c.user.UID), int(c.user.GID)); err != nil {
		return err
	}
	if c.user.closed(b.path, reading|passing) == "" {
		return nil
	}
	copied, err := os.MkdirTemp(h.runDir, "")
	if err != nil {
		return err
	}
	c.copied, c.program = copied, filepath.Join(copied, filepath.Base(b.path))
	if err := program.Copy(b.path, c.program); err != nil {
		return fmt.Errorf("copy the program to where user %d can start it: %w", c.user.UID, err)
	}
	return os.Chmod(copied, 0o711)
}

// userOf returns who a bundle runs as; nil for the user of Dogwatch, and why where that is not what was to be expected.
func (h *Host) userOf(name string) (_ *User, why string) {
	u := h.opt.Isolation.User
	switch missing := cannotSwitch(); {
	case os.Geteuid() != 0 && u == nil:
		return nil, ""
	case os.Geteuid() != 0:
		return nil, "plugins.user: only root can start programs as another user"
	case u != nil && u.UID == 0:
		return nil, "the user: plugins.user is root"
	case missing != "":
		return nil, "the user: " + missing
	case u != nil:
		return u, ""
	}
	if u = ownUser(name, mapped); u == nil {
		return nil, "the user: this user name space has none to spare"
	}
	return u, ""
}

// ownUser returns a user that nobody else is, for a name, of those that exist here.
func ownUser(name string, exists func(uint32) bool) *User {
	sum := fnv.New32a()
	sum.Write([]byte(name))
	// Ranges that systemd's list of users (systemd.io/UIDS-GIDS) has as unused, the second for
	// user name spaces of containers, which often have 65,536 users.
	for _, unused := range []struct{ first, size uint32 }{{1879048192, 1 << 28}, {60578, 606}} {
		if id := unused.first + sum.Sum32()%unused.size; exists(id) {
			return &User{UID: id, GID: id}
		}
	}
	return nil
}
