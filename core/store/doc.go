// Package store remembers everything that must outlive the process: the
// containers and what their last check found, the log of events, what is pending
// to triggers, which plugins are trusted, and responses of registries.
//
// It is one SQLite file and the only package that speaks SQL. Whatever belongs
// together is written in one transaction, after which the readers of the log
// are woken. The containers are also held in memory, decoded and encoded, as
// one immutable Snapshot, so that reading them never touches the file.
//
// In: what the folders below have found, decided and done, with its events.
// Out: the same after a restart; to those folders by the interfaces that they declare.
// May be imported by: app, serve.
//
// The packages, each of which imports only those of later places:
//
//	storetest > store
package store
