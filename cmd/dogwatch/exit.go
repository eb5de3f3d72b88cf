package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

// releaseKey is the public key of releases, of minisign, which build.sh sets; "" for none.
var releaseKey string

// The exit codes of every command.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // the command line itself is wrong
	exitUpdates = 3 // check --exit-code: there are updates; config diff: there are differences
	exitBlocked = 3 // plan and update: something keeps an update from being carried out
)

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

// exitError ends a command with a code of its own. An exitError without text
// has said everything already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode returns the exit code of a command's error, and whether the error needs no words any more.
func exitCode(err error) (code int, printed bool) {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code, exit.err == nil
	}
	return exitFailure, false
}

// usage marks an error of the command line itself.
func usage(err error) error { return &exitError{code: exitUsage, err: err} }

// exit ends a command that has said everything already with a code.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}
