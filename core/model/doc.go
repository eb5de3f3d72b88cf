// Package model is what all other folders speak of: which update is which (update), what happened (event), how a
// container's last check counts (tally), how far behind containers were (history). It decides nothing.
//
// In: containers and results, as plugins report them.
// Out: keys, events, states and counts, with one meaning everywhere.
// May be imported by: app, serve, store, notify, update, watch, plugin, decide.
//
// Its packages, each of which imports only those of later places:
//
//	history update > event sample tally tally/tallytest
package model
