package conform

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// HTTPFailure is a way in which the HTTP server at a URL fails, and the kind of the error that follows.
type HTTPFailure struct {
	Name string
	URL  func(testing.TB) string
	Kind error
}

// HTTPFailures are the failures that mean the same to the plugins of all kinds.
func HTTPFailures() []HTTPFailure {
	const wait = 7 * time.Second
	return []HTTPFailure{
		Responding(http.StatusUnauthorized, sdk.ErrUnauthorized),
		Responding(http.StatusForbidden, sdk.ErrUnauthorized),
		Responding(http.StatusNotFound, sdk.ErrNotFound),
		Responding(http.StatusInternalServerError, sdk.ErrUnavailable),
		Responding(http.StatusBadGateway, sdk.ErrUnavailable),
		Responding(http.StatusServiceUnavailable, sdk.ErrUnavailable),
		{"rate limit", func(t testing.TB) string { return plugintest.Limiting(t, wait) }, sdk.RateLimited(wait, nil)},
		{"unreachable", plugintest.Unreachable, sdk.ErrUnavailable},
	}
}

// Responding is the failure of a server that responds with a status.
func Responding(status int, kind error) HTTPFailure {
	return HTTPFailure{fmt.Sprint(status), func(t testing.TB) string { return plugintest.Responding(t, status) }, kind}
}
