// Package plugin supervises the processes that do the work: it finds bundles,
// decides which executables may run, launches them hardened, restarts those that
// exit, with backoff and a circuit breaker, and configures their instances again.
// Calls fail with "unavailable" while a process is down.
//
// In its folders, component makes configured watchers, registries and triggers of plugins, reload exchanges them,
// artifact and install fetch plugins, verify tries one out, and agent has the watchers of hosts that dial in.
//
// In: executables, and the sections of the configuration.
// Out: watchers, registries and triggers that can be called, whatever becomes of their processes.
// May be imported by: app, serve, store, notify, watch.
//
// The packages, each of which imports only those of later places:
//
//	reload > component verify > install plugin > agent artifact
package plugin
