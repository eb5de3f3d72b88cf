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

// packed keeps the compressed list of all containers: it is asked for every few
// seconds, and compressing it takes longer than sending it.
type packed struct {
	mu      sync.Mutex
	version uint64
	body    []byte
}

// list returns the containers of a snapshot as a compressed JSON array.
func (p *packed) list(snapshot store.Snapshot) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.body != nil && p.version == snapshot.Version() {
		return p.body, nil
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
	p.version, p.body = snapshot.Version(), bytes.Clone(body.Bytes())
	return p.body, nil
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
