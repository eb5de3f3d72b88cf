// Package app is the running Dogwatch: the list of its parts, what each of them is handed, and the order in which they
// start and stop. parts has the list, and those that commands have in common with it, wiring the adapters between
// parts. oneshot runs without a server, doctor examines an installation, stored changes its store from a command,
// backup saves and restores it, lookup finds the container that a command names, and migrate takes over from other
// tools.
//
// In: a configuration that was read, signals, the words of a command.
// Out: a program that runs until it is stopped, or the result of a command.
// May be imported by: nothing in the core; the commands do.
//
// Its packages, each of which imports only those of later places:
//
//	app doctor oneshot > parts > backup lookup migrate stored wiring > migrate/wudstore
package app
