// Command dogwatch watches containers, asks their registries whether something
// newer exists, and notifies of it or acts on it.
package main

import (
	"os"
	"slices"
	_ "time/tzdata" // an image FROM scratch has no time zones of its own

	"github.com/dogwatch/dogwatch/sdk/kind"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
)

func main() {
	// The plugin processes skip everything that only the command line needs.
	if k, ok := servesPlugin(os.Args[1:]); ok {
		collectEagerly()
		sdkplugin.Serve(bundle(k))
		return
	}
	if slices.Equal(os.Args[1:], handoverArgs) {
		os.Exit(serveHandover())
	}
	program, ok := standIn(os.Args[0])
	if !ok {
		program = run
	}
	ctx, stop := interruptible()
	code := program(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// servesPlugin reports whether the command line is the one with which the host
// starts a built-in bundle, and of which kind.
func servesPlugin(args []string) (kind.Kind, bool) {
	if len(args) != 2 || args[0] != "plugin" {
		return "", false
	}
	for _, k := range kind.Kinds() {
		if args[1] == string(k) {
			return k, true
		}
	}
	return "", false
}
