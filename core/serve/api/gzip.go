package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/dogwatch/dogwatch/core/store"
)

// compressedList caches the compressed list of all containers: clients poll it
// every few seconds, and compressing it takes longer than sending it.
type compressedList struct {
	mu      sync.Mutex
	version uint64
	body    []byte
}

// encode returns the containers of a snapshot as a compressed JSON array, which must
// not be changed.
func (l *compressedList) encode(snapshot store.Snapshot) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body != nil && l.version == snapshot.Version() {
		return l.body, nil
	}
	var body bytes.Buffer
	z, err := gzip.NewWriterLevel(&body, gzip.BestSpeed)
	if err == nil {
		err = writeArray(z, snapshot.All())
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress the list of containers: %w", err)
	}
	l.version, l.body = snapshot.Version(), bytes.Clone(body.Bytes())
	return l.body, nil
}

// acceptsGzip reports whether the client takes gzip (RFC 9110, section 12.5.3).
func acceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(coding, ";")
		weight := strings.TrimPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(weight, "0.") != "" || weight == ""
		}
	}
	return false
}
