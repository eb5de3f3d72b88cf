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
}

func (l limits) complete() limits {
	l.body = cmp.Or(l.body, 30*time.Second)
	return l
}
