// Package model is what all other folders speak of: which update is which (update), what happened (event), how a
// container's last check counts (tally), how far behind containers were (history), what is said in the language of its
// reader (phrase). It decides nothing.
//
// In: containers and results, as plugins report them.
// Out: keys, events, states and counts, with one meaning everywhere.
// May be imported by: app, serve, store, notify, update, watch, plugin, decide, config.
//
// Its packages, each of which imports only those of later places:
//
//	history update > event phrase sample tally tally/tallytest
package model
