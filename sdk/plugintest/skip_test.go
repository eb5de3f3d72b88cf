package plugintest

import (
	"fmt"
	"runtime"
	"testing"
)

// noted is a test whose end is noted.
type noted struct {
	testing.TB
	said string
}

func (n *noted) Helper() {}

func (n *noted) Fatalf(format string, args ...any) { n.end("failed: "+format, args) }

func (n *noted) Skipf(format string, args ...any) { n.end("skipped: "+format, args) }

func (n *noted) end(format string, args []any) {
	n.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestSkip(t *testing.T) {
	for required, want := range map[string]string{
		"":                    "skipped: no terminal here: nobody looks",
		"mount":               "skipped: no terminal here: nobody looks",
		"mount,terminal,zone": "failed: DOGWATCH_TEST_REQUIRE asks for terminal: nobody looks",
	} {
		t.Setenv("DOGWATCH_TEST_REQUIRE", required)
		n := &noted{}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Skip(n, "terminal", "nobody looks")
			t.Error("a test goes on")
		}()
		if <-ended; n.said != want {
			t.Errorf("%q: %s", required, n.said)
		}
	}
}
