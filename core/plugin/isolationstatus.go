package plugin

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/internal/sandbox"
)

// Isolated is what holds for a third-party bundle, as users see it.
type Isolated struct {
	// Holds are what is restricted: "files", "system calls", "rights of root", "user".
	Holds []string `json:"holds"`
	// Lacks say what is not, and why.
	Lacks []string `json:"lacks,omitempty"`
	// Limits are what it may use, with all that it starts.
	Limits []string `json:"limits,omitempty"`
	// Paths are what it may read and write by its options and by plugins.paths.
	Paths []string `json:"paths,omitempty"`
}

// String says it in a sentence: "isolated: files (Landlock, version 7), system calls (seccomp)".
func (i *Isolated) String() string {
	text := "not isolated"
	if len(i.Holds) > 0 {
		text = "isolated: " + strings.Join(i.Holds, ", ")
	}
	if len(i.Limits) > 0 {
		text += "; limited to " + strings.Join(i.Limits, ", ")
	}
	if len(i.Lacks) > 0 {
		text += "; not restricted: " + strings.Join(i.Lacks, "; ")
	}
	return text
}

// isolated is what holds in words; nil for a built-in bundle.
func (c *confinement) isolated() *Isolated {
	if c == nil {
		return nil
	}
	state := &Isolated{Holds: []string{}}
	unlimited := c.limited(state)
	if c.free != "" {
		state.Lacks = append([]string{"anything else, since " + c.free}, unlimited...)
		return state
	}
	if c.held.Files > 0 {
		state.Holds = append(state.Holds, fmt.Sprintf("files (Landlock, version %d)", c.held.Files))
		if c.held.Files < sandbox.UnixSockets && c.user == nil {
			state.Lacks = append(state.Lacks,
				fmt.Sprintf("connections to sockets in the file system, such as that of an engine: the kernel has that from version %d of Landlock on", sandbox.UnixSockets))
		}
	}
	if c.held.Calls {
		state.Holds = append(state.Holds, "system calls (seccomp)")
	}
	if c.held.Capabilities {
		state.Holds = append(state.Holds, "rights of root")
	}
	if c.user != nil {
		state.Holds = append(state.Holds, fmt.Sprintf("user %d", c.user.UID))
	}
	state.Lacks = slices.Concat(state.Lacks, c.lacks, c.held.Lacks, unlimited)
	state.Paths = c.paths
	for _, path := range c.paths {
		if _, err := os.Stat(path); err != nil {
			state.Lacks = append(state.Lacks, "access to "+path+": it was not there when the plugin was started")
		}
	}
	return state
}

// limited says what a process may use, and returns what is not limited although it should be.
func (c *confinement) limited(state *Isolated) (unlimited []string) {
	l := c.limits
	for _, limit := range []struct {
		set              bool
		controller, what string
		text             string
	}{
		{l.Memory > 0, "memory", "memory", "memory " + size(l.Memory)},
		{l.CPU > 0, "cpu", "processors", strconv.FormatFloat(l.CPU, 'f', -1, 64) + " processors"},
	} {
		switch {
		case limit.set && c.group.bounds(limit.controller):
			state.Limits = append(state.Limits, limit.text)
		case limit.set:
			unlimited = append(unlimited, limit.what+": "+c.without)
		}
	}
	if l.Processes > 0 {
		format := "%d processes"
		if c.group.bounds("pids") {
			format = "%d processes and threads"
		}
		state.Limits = append(state.Limits, fmt.Sprintf(format, l.Processes))
	}
	if l.Temp > 0 {
		state.Limits = append(state.Limits, size(l.Temp)+" of temporary files")
	}
	return unlimited
}

// forbidden are the ways in which programs say that they were not permitted to do something.
var forbidden = []string{"permission denied", "operation not permitted", "eacces", "eperm"}

// hint says of a failure that looks like one of the isolation how to permit more; "" for others.
func (c *confinement) hint(bundle, failure string) string {
	if !c.restricted() || len(c.rules.Write) == 0 || !c.held.Calls && c.held.Files == 0 && c.user == nil {
		return ""
	}
	failure = strings.ToLower(failure)
	if !slices.ContainsFunc(forbidden, func(text string) bool { return strings.Contains(failure, text) }) {
		return ""
	}
	as := ""
	if c.user != nil {
		as = fmt.Sprintf(", and runs as user %d, to whom a file or folder has to be open (chown %d /path; plugins.user names another)", c.user.UID, c.user.UID)
	}
	return fmt.Sprintf("; plugin %s is isolated%s: if it needs a file or folder that is not near one of its options, add %s=/path to plugins.paths; if it needs an engine, add %s=engine to plugins.grants",
		bundle, as, bundle, bundle)
}

// explainIsolation adds the hint to an error of a process.
func (p *process) explainIsolation(bundle string, err error) error {
	if err == nil {
		return nil
	}
	if hint := p.confined.hint(bundle, err.Error()); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}
