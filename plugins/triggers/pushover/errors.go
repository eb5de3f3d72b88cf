package pushover

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// maxResponse is how much of a response is read, in bytes.
const maxResponse = 64 << 10

// response is the JSON of the service: https://pushover.net/api#response. A
// parameter that is to blame is named, with the value "invalid".
type response struct {
	Status int      `json:"status"`
	Errors []string `json:"errors"`
	User   string   `json:"user"`
	Token  string   `json:"token"`
	Device string   `json:"device"`
}

// explain returns the error that a response stands for.
//
//	429                    *sdk.RateLimitedError until the quota is renewed
//	4xx, user or token     sdk.ErrUnauthorized
//	another 4xx            *sdk.InvalidError
//	anything else          as httpclient.CheckStatus says
func (p *pushover) explain(resp *http.Response) error {
	payload, err := httpclient.ReadAll(resp, maxResponse)
	if err != nil && resp.StatusCode < 300 {
		return err
	}
	var r response
	known := json.Unmarshal(payload, &r) == nil
	resp.Body = io.NopCloser(bytes.NewReader(payload))
	err = p.CheckStatus(resp)
	var limited *sdk.RateLimitedError
	switch {
	case errors.As(err, &limited):
		return sdk.RateLimited(max(limited.After, untilReset(resp.Header, time.Now())), limited.Err)
	case known && (err == nil && r.Status != 1 || resp.StatusCode/100 == 4 && len(r.Errors) > 0):
		return p.refused(r)
	case err == nil && !known:
		return errors.New(resp.Request.URL.Host + " answered something else than Pushover does; check url")
	}
	return err
}

// refused explains a response whose status is not 1.
func (p *pushover) refused(r response) error {
	text := "Pushover refuses the message: " + p.clean(strings.Join(r.Errors, "; "))
	switch {
	case r.Token != "":
		return sdk.WithKind(sdk.ErrUnauthorized, errors.New(text+" (check token)"))
	case r.User != "":
		return sdk.WithKind(sdk.ErrUnauthorized, errors.New(text+" (check user and device)"))
	case r.Device != "":
		return sdk.Invalid("device", "%s", text)
	}
	return sdk.Invalid("", "%s", text)
}

// untilReset is how long it takes until the application may send again:
// https://pushover.net/api#limits. It is 0 when the response does not say.
func untilReset(h http.Header, now time.Time) time.Duration {
	at, err := strconv.ParseInt(h.Get("X-Limit-App-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, time.Unix(at, 0).Sub(now))
}
