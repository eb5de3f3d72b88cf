package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// bridge re-emits what a plugin logs. go-plugin reads the plugin's JSON lines
// and hands each to a logger; the bridge writes an entry under the name that
// it had in the plugin ("trigger.smtp.main"), or else under the bundle's.
type bridge struct {
	hclog.Logger
	root  hclog.Logger
	flood *flood
}

// Named keeps go-plugin from adding the name of the executable, which for
// built-in bundles is always our own.
func (b bridge) Named(string) hclog.Logger { return b }

func (b bridge) Trace(msg string, args ...any) { b.emit(hclog.Trace, msg, args) }
func (b bridge) Debug(msg string, args ...any) { b.emit(b.debugLevel(msg, args), msg, args) }
func (b bridge) Info(msg string, args ...any)  { b.emit(infoLevel(msg), msg, args) }
func (b bridge) Warn(msg string, args ...any)  { b.emit(hclog.Warn, msg, args) }
func (b bridge) Error(msg string, args ...any) { b.emit(hclog.Error, msg, args) }

// debugLevel is the level of what go-plugin logs for debugging. A line without a time is one that the
// plugin wrote as it is to stderr: with Go's log package, or from a program that it started.
func (b bridge) debugLevel(msg string, args []any) hclog.Level {
	if b.flood == nil || len(args) > 0 || msg == "plugin exited" {
		return hclog.Debug
	}
	return hclog.Info
}

// infoLevel is the level of what go-plugin, or the plugin, logs as information. That a process
// exited without an error is none: it only described its types, or its supervisor says why it ended.
func infoLevel(msg string) hclog.Level {
	if msg == "plugin process exited" {
		return hclog.Debug
	}
	return hclog.Info
}

func (b bridge) emit(level hclog.Level, msg string, args []any) {
	log, size := b.Logger, len(msg)
	kept := make([]any, 0, len(args))
	decoded := false // from JSON, whose fields go-plugin has in no order
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "@module":
			if name, ok := args[i+1].(string); ok && name != "" {
				log = b.root.Named(name)
			}
		case "timestamp": // the host's own stands at the beginning of the line
			decoded = true
		default:
			value := args[i+1]
			if text, ok := value.(string); ok {
				size += len(text)
				value = strings.ReplaceAll(strings.TrimSpace(text), "\n", " | ")
			}
			kept = append(kept, args[i], value)
		}
	}
	if level >= b.GetLevel() && !b.flood.admits(b.Logger, size) {
		return
	}
	if decoded {
		kept = sorted(kept)
	}
	log.Log(level, msg, kept...)
}

// sorted returns fields by their names.
func sorted(fields []any) []any {
	return slices.Concat(slices.SortedFunc(slices.Values(slices.Collect(slices.Chunk(fields, 2))), func(a, b []any) int {
		return cmp.Compare(fmt.Sprint(a[0]), fmt.Sprint(b[0]))
	})...)
}
