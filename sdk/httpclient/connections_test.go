package httpclient

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// TestClientKeepsConnectionsForRequestsAtOnce has as many requests at once as checks make to a host,
// several times: each connection, whose TLS handshake is dear, serves all rounds.
func TestClientKeepsConnectionsForRequestsAtOnce(t *testing.T) {
	var arrived sync.WaitGroup
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived.Done()
		arrived.Wait() // no request gets the connection of another one of its round
	}))
	var opened atomic.Int32
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := newClient(t, Options{})
	for range 3 {
		arrived.Add(maxPerHost)
		var round sync.WaitGroup
		for range maxPerHost {
			req := request(t, http.MethodGet, s.URL, "")
			round.Go(func() {
				resp, err := c.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
			})
		}
		round.Wait()
	}
	if n := opened.Load(); n != maxPerHost {
		t.Errorf("%d connections for %d requests at once", n, maxPerHost)
	}
}
