//go:build !linux

package compose

import "os/exec"

func runGroup(cmd *exec.Cmd) error { return cmd.Run() }
