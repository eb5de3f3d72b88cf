package store

import (
	"fmt"
	"os"
)

// owner is a user and a group.
type owner struct{ uid, gid int }

func us() owner { return owner{os.Geteuid(), os.Getegid()} }

// String is the owner as chown takes it.
func (o owner) String() string { return fmt.Sprintf("%d:%d", o.uid, o.gid) }

func (o owner) words() string { return fmt.Sprintf("%d, group %d", o.uid, o.gid) }
