// Package buildtest builds programs for tests, all with the same flags, so that one run of all tests
// compiles each package once for all of them: CGO_ENABLED=0 go test ./... for the test binaries, too.
package buildtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/dogwatch/dogwatch/internal/program"
)

// builtProgram is the variable of the environment that names the program as it is shipped, if it was built before.
const builtProgram = "DOGWATCH_TEST_PROGRAM"

// Shipped reports whether programs are built as they are shipped, which compiles all that they consist of once more:
// where DOGWATCH_TEST_PROGRAM is set.
func Shipped() bool { return os.Getenv(builtProgram) != "" }

// Dogwatch puts the program at path. Flags are further ones of go build. As it is shipped, it is a copy of what
// DOGWATCH_TEST_PROGRAM names, or with flags what cmd/dogwatch/build.sh builds.
func Dogwatch(path string, flags ...string) error {
	script, err := find(filepath.Join("cmd", "dogwatch", "build.sh"))
	if err != nil {
		return err
	}
	switch {
	case !Shipped():
		return plain(filepath.Dir(script), path, flags)
	case len(flags) == 0:
		if err := program.Copy(os.Getenv(builtProgram), path); err != nil {
			return fmt.Errorf("%s: %w", builtProgram, err)
		}
		return nil
	default:
		return run(exec.Command("sh", append([]string{script, path}, flags...)...), path)
	}
}

// Program puts the program in the folder dir at path, which must be absolute. Flags are further ones of go build.
func Program(dir, path string, flags ...string) error {
	if Shipped() {
		flags = append([]string{"-trimpath", "-tags", "grpcnotrace"}, flags...)
	}
	return plain(dir, path, flags)
}

// plain builds the program in the folder dir. It is static, for containers that have nothing else. Without further
// flags go build links the packages that go test has compiled, where that does without cgo, too.
func plain(dir, path string, flags []string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-ldflags", "-s -w", "-o", path}, flags...), ".")...)
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
