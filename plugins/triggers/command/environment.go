package command

import (
	"fmt"
	"os"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// maxVariable is the longest variable: Linux takes 128 KiB, its name and
	// terminator included (MAX_ARG_STRLEN, execve(2)).
	maxVariable = 120 << 10
	// maxEnvironment is the size of all variables together: well below the
	// quarter of the stack limit that Linux takes (ARG_MAX, execve(2)).
	maxEnvironment = 1 << 20
)

// harmless are variables that every command needs or can have.
var harmless = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE",
	"SSL_CERT_DIR",
}

// inherited returns the harmless variables of this process and those named more.
func inherited(more []string) []string {
	var variables []string
	seen := map[string]bool{}
	for _, name := range append(append([]string{}, harmless...), more...) {
		value, set := os.LookupEnv(name)
		if set && !seen[name] {
			variables = append(variables, name+"="+value)
		}
		seen[name] = true
	}
	return variables
}

// environment adds to base what WUD's scripts expect: for a single container its
// flattened values and container_json, for a batch containers_json, for an event
// its type, watcher, error and event_json; and the message. It returns as well the names of variables that do not fit.
func environment(base []string, req trigger.Request, payload []byte) (variables, dropped []string) {
	variables = append(variables, base...)
	size := 0
	for _, v := range base {
		size += len(v)
	}
	add := func(name, value string) {
		// A variable ends at a NUL.
		variable := name + "=" + strings.ReplaceAll(value, "\x00", "")
		if len(variable) > maxVariable || size+len(variable) > maxEnvironment {
			dropped = append(dropped, name)
			return
		}
		size += len(variable)
		variables = append(variables, variable)
	}
	add("title", req.Title)
	add("body", req.Body)
	if e := req.Event; e != nil {
		add("event", e.Type)
		add("watcher", e.Watcher)
		add("error", e.Error)
		for _, v := range [][2]string{{"container", e.Container}, {"operation", e.Operation}, {"from", e.From},
			{"to", e.To}, {"by", e.By}, {"plugin", e.Plugin}} {
			if v[1] != "" {
				add(v[0], v[1])
			}
		}
		add("event_json", string(payload))
		return variables, dropped
	}
	if req.Batch || len(req.Containers) != 1 {
		add("containers_json", string(payload))
		return variables, dropped
	}
	for _, flat := range req.Containers[0].Flatten() {
		add(flat.Key, fmt.Sprint(flat.Value))
	}
	add("container_json", string(payload))
	return variables, dropped
}
