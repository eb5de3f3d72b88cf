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

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// answer is what the service says: https://pushover.net/api#response. A
// parameter that is to blame is named, with the value "invalid".
type answer struct {
	Status int      `json:"status"`
	Errors []string `json:"errors"`
	User   string   `json:"user"`
	Token  string   `json:"token"`
	Device string   `json:"device"`
}

// judge returns the error that an answer stands for.
//
//	429                    *sdk.RateLimitedError until the quota is renewed
//	4xx, user or token     sdk.ErrUnauthorized
//	another 4xx            *sdk.InvalidError
//	anything else          as httpclient.CheckStatus says
func (p *pushover) judge(resp *http.Response) error {
	payload, err := httpclient.ReadAll(resp, maxAnswer)
	if err != nil && resp.StatusCode < 300 {
		return err
	}
	var a answer
	known := json.Unmarshal(payload, &a) == nil
	resp.Body = io.NopCloser(bytes.NewReader(payload))
	err = p.http.CheckStatus(resp)
	var limited *sdk.RateLimitedError
	switch {
	case errors.As(err, &limited):
		return sdk.RateLimited(max(limited.After, untilReset(resp.Header, time.Now())), limited.Err)
	case known && (err == nil && a.Status != 1 || resp.StatusCode/100 == 4 && len(a.Errors) > 0):
		return p.refused(a)
	case err == nil && !known:
		return errors.New(resp.Request.URL.Host + " answered something else than Pushover does; check url")
	}
	return err
}

// refused explains an answer whose status is not 1.
func (p *pushover) refused(a answer) error {
	text := "Pushover refuses the message: " + p.clean(strings.Join(a.Errors, "; "))
	switch {
	case a.Token != "":
		return sdk.WithKind(sdk.ErrUnauthorized, errors.New(text+" (check token)"))
	case a.User != "":
		return sdk.WithKind(sdk.ErrUnauthorized, errors.New(text+" (check user and device)"))
	case a.Device != "":
		return sdk.Invalid("device", "%s", text)
	}
	return sdk.Invalid("", "%s", text)
}

// untilReset is how long it takes until the application may send again:
// https://pushover.net/api#limits. It is 0 when the answer does not say.
func untilReset(h http.Header, now time.Time) time.Duration {
	at, err := strconv.ParseInt(h.Get("X-Limit-App-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, time.Unix(at, 0).Sub(now))
}
