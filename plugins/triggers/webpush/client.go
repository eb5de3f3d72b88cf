package webpush

import (
	"net/http"

	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// reported tells errors of requests from those of the library, which may repeat keys.
type reported struct{ *httpclient.Client }

// Do implements webpush.HTTPClient.
func (r reported) Do(req *http.Request) (*http.Response, error) {
	resp, err := r.Client.Do(req)
	if err != nil {
		return nil, &requestError{err}
	}
	return resp, nil
}

// requestError is an error of package httpclient.
type requestError struct{ error }
