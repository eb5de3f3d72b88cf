// Command dogwatch watches containers, asks their registries whether something
// newer exists, and notifies of it or acts on it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // an image FROM scratch has no time zones of its own

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/sdk/kind"
	sdkplugin "github.com/dogwatch/dogwatch/sdk/plugin"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

// The exit codes of every command.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // the command line itself is wrong
	exitUpdates = 3 // check --exit-code: there are updates; config diff: there are differences
	exitBlocked = 3 // plan and update: something keeps an update from being carried out
)

func main() {
	// The plugin processes skip everything that only the command line needs.
	if k, is := servesPlugin(os.Args[1:]); is {
		sdkplugin.Serve(bundle(k))
		return
	}
	if slices.Equal(os.Args[1:], handoverArgs) {
		os.Exit(serveHandover())
	}
	program, is := standIn(os.Args[0])
	if !is {
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

// interruptible returns a context that the first interrupt or termination
// signal ends; a second one exits at once.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var cause error
		if s := <-signals; s == syscall.SIGTERM {
			cause = errTerminated
		}
		cancel(cause)
		<-signals
		os.Exit(exitFailure)
	}()
	return ctx, func() { cancel(nil) }
}

// errTerminated is why the context of a command ended that received SIGTERM, rather
// than an interrupt of its user.
var errTerminated = errors.New("terminated")

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, said := exitCode(err)
	if !said {
		complain(stderr, err)
	}
	return code
}

// complain writes what is wrong to stderr, and the lines that mend it. Errors quote what others wrote.
func complain(stderr io.Writer, problem any) {
	fmt.Fprintln(stderr, "dogwatch:", logging.Sanitize(fmt.Sprint(problem)))
	var refused *refusedError
	if err, is := problem.(error); is && errors.As(err, &refused) {
		writePaste(stderr, refused.Paste)
	}
}

// writePaste writes lines to paste, indented, and where to read about them.
func writePaste(w io.Writer, p config.Paste) {
	for _, l := range p.Lines {
		fmt.Fprintf(w, "\n%s:\n\n", printable(l.Where))
		for line := range strings.Lines(l.Text) {
			fmt.Fprintln(w, "  "+printable(strings.TrimRight(line, "\r\n")))
		}
	}
	if p.Docs != "" {
		fmt.Fprintf(w, "\nSee %s\n", printable(p.Docs))
	}
}
