package httpclient

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// maxExcerptBytes is how much of the body of a failure is read to explain it.
	maxExcerptBytes = 4 << 10
	// maxWait bounds the wait that a server can ask for.
	maxWait = 24 * time.Hour
)

// CheckStatus returns nil for a 2xx response, else an error with the status and a
// short excerpt of the body, of which it reads the beginning. Its kind:
//
//	401, 403, 407    sdk.ErrUnauthorized
//	404, 410         sdk.ErrNotFound
//	408, 425, 5xx    sdk.ErrUnavailable; with a time to wait also *sdk.RateLimitedError
//	429              *sdk.RateLimitedError with the time the server asks for
//	any other 4xx    *sdk.InvalidError
func (c *Client) CheckStatus(resp *http.Response) error {
	status := resp.StatusCode
	if status >= 200 && status < 300 {
		return nil
	}
	text := statusText(status)
	if resp.Request != nil {
		text = resp.Request.URL.Host + " answered " + text
	}
	if excerpt := c.excerpt(resp); excerpt != "" {
		text += ": " + excerpt
	}
	err := errors.New(text)
	wait := ParseRetryAfter(resp.Header, time.Now())
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return sdk.WithKind(sdk.ErrUnauthorized, err)
	case status == http.StatusNotFound, status == http.StatusGone:
		return sdk.WithKind(sdk.ErrNotFound, err)
	case status == http.StatusTooManyRequests:
		return sdk.RateLimited(wait, err)
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		err = sdk.WithKind(sdk.ErrUnavailable, err)
		if wait > 0 {
			return sdk.RateLimited(wait, err)
		}
		return err
	case status >= 400:
		return sdk.Invalid("", "%s", text)
	}
	return err
}

// excerpt is the beginning of a body as one short line without secrets. A page
// made for browsers explains nothing in its first line.
func (c *Client) excerpt(resp *http.Response) string {
	if resp.Body == nil || strings.Contains(resp.Header.Get("Content-Type"), "html") {
		return ""
	}
	hide := c.hide
	if resp.Request != nil {
		hide = hide.With(credentials(resp.Request)...)
	}
	// What cannot be read adds nothing to the status.
	start, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerptBytes))
	text := hide.Blank(string(start))
	if len(start) == maxExcerptBytes {
		// A secret cut in two by the limit is not recognised.
		text = text[:max(0, len(text)-hide.Longest())]
	}
	return clean(text)
}

// statusText is the code with its standard name; the reason a server writes is its own text.
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// waitHeaders say when to retry: RFC 9110 section 10.2.3, and what
// registries send beside or instead of it.
var waitHeaders = []string{"Retry-After", "X-Retry-After", "RateLimit-Reset", "X-RateLimit-Reset"}

// ParseRetryAfter returns how long the headers of a response ask to wait: seconds,
// a date, or the seconds since 1970 that some registries send. It is 0 when they
// do not say, and a day at most.
func ParseRetryAfter(h http.Header, now time.Time) time.Duration {
	for _, name := range waitHeaders {
		if wait, ok := parseWait(h.Get(name), now); ok {
			return min(max(wait, 0), maxWait)
		}
	}
	return 0
}

// epoch distinguishes a point in time from a number of seconds: no server asks for thirty years.
const epoch = 1e9

func parseWait(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, false
	}
	if date, err := http.ParseTime(text); err == nil {
		return date.Sub(now), true
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(seconds) {
		return 0, false
	}
	if seconds >= epoch {
		seconds -= float64(now.Unix())
	}
	return time.Duration(min(max(seconds, 0), maxWait.Seconds()) * float64(time.Second)), true
}
