package api

import (
	"cmp"
	"time"
)

// limits are what clients may use of the server's time and memory, whether
// they are slow or mean it. A field that is zero has its default.
type limits struct {
	// body is how long a client may take to send the whole body of a request,
	// counted from the end of its header.
	body time.Duration
	// piece is how long it may take to accept one piece of an answer, and answer
	// to accept all of it; streams have no end.
	piece, answer time.Duration
	// connections is how many there are at a time, held how many bytes of bodies
	// and answers all of them together may have waiting.
	connections, held int
}

func (l limits) complete() limits {
	l.body = cmp.Or(l.body, 30*time.Second)
	l.piece = cmp.Or(l.piece, time.Minute)
	l.answer = cmp.Or(l.answer, 5*time.Minute)
	l.connections = cmp.Or(l.connections, 512)
	l.held = cmp.Or(l.held, 8<<20)
	return l
}
