//go:build !unix

package plugin

import (
	"os"
	"path/filepath"
	"strings"
)

func runnable(info os.FileInfo) bool { return strings.EqualFold(filepath.Ext(info.Name()), ".exe") }

// ownedByUs is not checked here: the operator sets the permissions of the folder.
func ownedByUs(os.FileInfo) bool { return true }

func ownerOf(os.FileInfo) (uid, gid uint32) { return 0, 0 }
