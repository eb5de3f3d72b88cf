// Package decide says what becomes of an update: tag selects the newest version, candidate lists what answers of
// registries offer, choice keeps what users want of that, policy weighs both by rules, windows and ages, and decision
// stores the outcome, now and whenever that changes. preset has what vendors say; scan and notes find out more about an
// update. None of tag, candidate and policy does any I/O.
//
// In: the tags of a repository and the candidates of a check; rules, choices, reports of scanners, release notes.
// Out: a decision: offered, held or automatic, with its reasons; and what other rules would make of it (preview).
// May be imported by: app, serve, store, notify, update, watch, plugin.
//
// Its packages, each of which imports only those of later places:
//
//	decision > preview scan > policy > candidate choice notes policy/window preset vulnerability > tag
package decide
