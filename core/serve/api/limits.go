package api

import (
	"cmp"
	"time"
)

// limits bound what clients use of the server's time and memory. A field that is
// zero has its default.
type limits struct {
	// body is how long a client may take to send the whole body of a request,
	// counted from the end of its header.
	body time.Duration
	// piece is how long it may take to accept one write of a response, and response
	// to accept all of it; streams have no end.
	piece, response time.Duration
	// connections is how many there are at a time, held how many bytes of bodies
	// and responses all of them together may have waiting.
	connections, held int
}

func (l limits) complete() limits {
	l.body = cmp.Or(l.body, 30*time.Second)
	l.piece = cmp.Or(l.piece, time.Minute)
	l.response = cmp.Or(l.response, 5*time.Minute)
	l.connections = cmp.Or(l.connections, 512)
	l.held = cmp.Or(l.held, 8<<20)
	return l
}
