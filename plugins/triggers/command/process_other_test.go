//go:build !linux

package command

import "testing"

const groups = false

func namedPipe(t *testing.T) string {
	t.Helper()
	t.Skip("named pipes are used on Linux only")
	return ""
}
