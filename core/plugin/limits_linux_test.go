package plugin

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPluginWithTooManyProcesses: one that starts hundreds of programs is ended with all of
// them, says why, and is started again as after a crash.
func TestPluginWithTooManyProcesses(t *testing.T) {
	w := newWired(t, "serves-nothing")
	must(t, w.set(t, nil))
	first := w.s.Status().PID
	if err := w.run(t.Context(), "fork"); err == nil {
		t.Error("the call has succeeded")
	}
	eventually(t, "it says why it ended", func() bool {
		return strings.Contains(w.log.String(),
			"processes, and may have 256 (plugins.limits): it was ended with all that it started")
	})
	eventually(t, "nothing of it is left", func() bool {
		return !slices.ContainsFunc(entries(), func(e entry) bool { return e.session == first })
	})
	if !strings.Contains(w.log.String(), "plugin exceeds its limits") {
		t.Errorf("the log says %s", w.log.String())
	}
	eventually(t, "it runs again", func() bool { st := w.s.Status(); return st.State == Running && st.PID != first })
	must(t, w.run(t.Context(), "OK"))
}

func TestEntries(t *testing.T) {
	if n, known := threads(); !known || n < 1 {
		t.Errorf("the system has %d threads, %v", n, known)
	}
	own := slices.IndexFunc(entries(), func(e entry) bool {
		return e.pid == os.Getpid() && e.parent == os.Getppid() && !e.zombie
	})
	if own < 0 {
		t.Error("this process is not seen")
	}
}
