// Package kittest tests the conformance kits: a kit is worth something only
// when it fails for a type that breaks its promises.
package kittest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Bad is a type that breaks one promise.
type Bad struct {
	// Run runs the kit on it.
	Run func(*testing.T)
	// Check is the check that must fail, and Want what it must say.
	Check, Want string
}

const badVar = "DOGWATCH_TEST_BAD_TYPE"

// MustFail runs the kit on each bad type, in a process of its own since a test
// cannot fail and pass at once, and wants it to fail as it should.
func MustFail(t *testing.T, all map[string]Bad) {
	if name := os.Getenv(badVar); name != "" {
		all[name].Run(t)
		return
	}
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _, _ := strings.Cut(t.Name(), "/")
			path := "^" + strings.ReplaceAll(root+"/"+bad.Check, "/", "$/^")
			cmd := exec.CommandContext(t.Context(), exe, "-test.run="+path)
			cmd.Env = append(os.Environ(), badVar+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("the kit passes it:\n%s", out)
				return
			}
			if !strings.Contains(string(out), "--- FAIL: "+root+"/"+bad.Check) || !strings.Contains(string(out), bad.Want) {
				t.Errorf("want a failure of %s that says %q, got:\n%s", bad.Check, bad.Want, out)
			}
		})
	}
}
