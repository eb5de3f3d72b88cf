// Package core is the host of Dogwatch: everything but the plugins and the
// command line.
//
//	                ┌────────────────────────── dogwatch serve ──────────────────────────┐
//	YAML, env ─────►│ config ─► component ─► plugin (bundles, supervisors, handles)      │
//	                │                             │ gRPC, mTLS, unix socket              │
//	cron, API ─────►│ schedule ─► check ─► store ◄┼► event log ─► dispatch               │
//	                │                ▲            │      │            │                  │
//	clients ◄──────►│ api,web►service┘            │      └► SSE       │                  │
//	                └─────────────────────────────┼───────────────────┼──────────────────┘
//	                       ┌──────────────────────┼───────────┬───────┴─────────┐
//	                 watcher bundle         registry bundle   trigger bundle   third-party
//	                 └── this same binary, started again: dogwatch plugin … ┘   bundles
//
// One update, end to end: a schedule, an engine event or a request asks for a
// check; check lists the watcher's containers and reads their labels; registryquery
// asks each registry each question once, and what is newer is decided;
// store commits containers and events in one transaction; dispatch follows the
// events with a durable cursor, records what is pending for which trigger, and
// delivers it: attempt recorded first, outcome after. After a kill at any line
// the next start goes on from what is committed.
//
// Triggers that mirror everything somewhere subscribe to a state stream of
// statestream: one open call, in which each takes what has changed since its
// last request.
//
// Pages speak the language of their browser: sentences are phrases (model/phrase), said by the catalogues of
// serve/language; the API, messages and the log are English. Browsers that subscribed get messages by Web Push
// (notify/webpush), as any trigger does.
//
// The words: a watcher finds containers, a registry answers questions about
// repositories, a trigger notifies or acts; these are the kinds. A type is an
// implementation of a kind, a component a configured type with a name
// ("smtp.main"), a bundle an executable that holds types, a plugin a running
// bundle. A policy has the rules by which updates are decided; a result is what a
// check found; an update is what it offers, identified by its key; a delivery is
// what is pending for one trigger.
//
// The folders tell the story of one update. A package imports only what is in folders below its own, in this order,
// and in its own only what that folder's doc.go lists later; folders_test.go asserts both:
//
//	app     the parts, wired and run; commands without a server; what takes over from other tools
//	serve   pages, HTTP interface, logins, metrics
//	store   what outlives the process
//	notify  triggers say what happened
//	update  updates and rollbacks, step by step
//	watch   what runs, and what there is that is newer
//	plugin  executables, here or at an agent, become watchers, registries and triggers
//	decide  offered, held or automatic, and why
//	config  what users write: file, variables, labels, templates
//	model   what all speak of: identity of an update, events, counts
//
// check and dispatch declare the few methods they need of others as
// interfaces; wiring fits the implementations to them.
package core
