// Package buildtest builds programs for tests, all with the same flags, so that one run of all tests
// compiles each package once for all of them.
package buildtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// program is the variable of the environment that names the program as it is shipped, if it was built before.
const program = "DOGWATCH_TEST_PROGRAM"

// Dogwatch puts the program as it is shipped at path, by cmd/dogwatch/build.sh. Flags are further ones of go build.
// Without flags it is a copy of what DOGWATCH_TEST_PROGRAM names, if that is set.
func Dogwatch(path string, flags ...string) error {
	if built := os.Getenv(program); built != "" && len(flags) == 0 {
		return copyProgram(built, path)
	}
	script, err := find(filepath.Join("cmd", "dogwatch", "build.sh"))
	if err != nil {
		return err
	}
	return run(exec.Command("sh", append([]string{script, path}, flags...)...), path)
}

// Plugin puts the program in the folder dir at path, which must be absolute.
func Plugin(dir, path string, flags ...string) error {
	args := []string{"build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", path}
	cmd := exec.Command("go", append(append(args, flags...), ".")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	return run(cmd, path)
}

func run(cmd *exec.Cmd, path string) error {
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", filepath.Base(path), err, output)
	}
	return nil
}

// find returns where a file of this module is, seen from the folder of any of its packages, where tests run.
func find(name string) (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil || dir == filepath.Dir(dir) {
			return path, err
		}
	}
	return "", err
}

func copyProgram(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
