// Package update carries updates out: automatic begins those that were decided to need no user, updater has them
// planned and taken step by step, and an operation is what is stored of each. Which update is which is said in
// core/model/update.
//
// In: a decision that is "automatic", a user's or a trigger's request, an operation that a restart interrupted.
// Out: operations with their steps and outcomes; calls of the watcher's plugin.
// May be imported by: app, serve, store, notify.
//
// Its packages, each of which imports only those of later places:
//
//	automatic > updater > operation > stackorder
package update
