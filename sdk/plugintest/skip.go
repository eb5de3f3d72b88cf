package plugintest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Skip skips a test because something is absent, for the reason why. It fails
// the test instead when DOGWATCH_TEST_REQUIRE, a list of words separated by
// commas, names what: then it must be there.
func Skip(t testing.TB, what string, why any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("DOGWATCH_TEST_REQUIRE"), ","), what) {
		t.Fatalf("DOGWATCH_TEST_REQUIRE asks for %s: %v", what, why)
	}
	t.Skipf("no %s here: %v", what, why)
}
