//go:build !linux

package scan

import "os/exec"

// runGroup runs cmd and kills it when its context ends. What it has started
// itself goes on: process groups are handled on Linux only.
func runGroup(cmd *exec.Cmd) error { return cmd.Run() }
