// Package agent joins hosts that nothing can reach to a Dogwatch elsewhere. An agent is this program on such a host: it
// dials the Dogwatch that serves, the controller, and answers what a watcher plugin answers, over the connection that
// it has opened.
//
// The layers of a link, from the outside in: a WebSocket, at the address of the controller's pages, which passes
// proxies, also those that end TLS; TLS 1.3 with certificates on both sides, of the controller's own authority, so that
// no proxy reads or changes anything; yamux, in which the controller opens streams; and the plugin protocol, in which
// the agent is the server.
//
// An agent joins with a token that an operator makes: it works once and for ten minutes, and has the fingerprint of the
// authority, so that the agent sends its secret to nobody else. The agent's key never leaves its host and is its
// identity: its name and whether it was revoked are in the controller's store.
package agent
