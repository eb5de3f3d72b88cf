//go:build !linux

package plugin

import "os"

func contentOf(os.FileInfo) (content, bool) { return content{}, false }
