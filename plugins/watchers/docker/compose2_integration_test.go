package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// compose2 says where Docker Compose 2 is, which .ci/run builds from dockertest/compose.
const compose2 = "DOGWATCH_TEST_COMPOSE2"

// separator is what stands between the parts of the names that docker-compose gives to containers.
var separator = sync.OnceValue(func() string {
	if out, _ := exec.Command("docker-compose", "version", "--short").Output(); strings.HasPrefix(string(out), "1.") {
		return "_"
	}
	return "-"
})

// composed is the name of a container of docker-compose, given as version 1 has it.
func composed(name string) string { return strings.ReplaceAll(name, "_", separator()) }

// TestCompose2 runs the tests of docker-compose, which is Debian's version 1, with version 2.
func TestCompose2(t *testing.T) {
	t.Parallel()
	path := os.Getenv(compose2)
	if path == "" {
		plugintest.Skip(t, "compose2", compose2+" names no Docker Compose 2")
	}
	dir := t.TempDir()
	check(t, os.Symlink(path, filepath.Join(dir, "docker-compose")))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run",
		"^(TestComposeCommandRecoversWhatComposeLeft|TestComposeCommandInterruptedAnywhere|TestComposeCommandRecreates|"+
			"TestComposeDoesNotRecreateAnEditedService|TestUpdateOfAScaledService|TestImageThatComposeBuilt)$")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), compose2+"=")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") ||
		!strings.Contains(string(out), "--- PASS: TestImageThatComposeBuilt") {
		t.Errorf("%v:\n%s", err, out)
	}
}
