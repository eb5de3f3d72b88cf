//go:build !unix

package plugin

import (
	"os"
	"path/filepath"
	"strings"
)

func runnable(info os.FileInfo) bool { return strings.EqualFold(filepath.Ext(info.Name()), ".exe") }

// ownedByUs has no portable answer here; the permissions of the folder are the operator's care.
func ownedByUs(os.FileInfo) bool { return true }
