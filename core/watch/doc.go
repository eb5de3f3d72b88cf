// Package watch finds out what runs and what there is that is newer: schedule says when, webhook that something was
// pushed, check lists containers, labels reads theirs, and registryquery asks registries about their images, as often
// as hostlimit says that each host allows it; releasedate asks for dates and versions that only pages show.
//
// In: times, events of engines, webhooks and requests; the containers of a watcher; tags and digests of registries.
// Out: the state of each container, and the answers of registries about it, for decide to judge.
// May be imported by: app, serve, store.
//
// Its packages, each of which imports only those of later places:
//
//	schedule > check releasedate webhook > labels registryquery > hostlimit
package watch
