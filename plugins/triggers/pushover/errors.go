package pushover

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// response is the JSON of the service: https://pushover.net/api#response. A
// parameter that is to blame is named, with the value "invalid".
type response struct {
	Status int      `json:"status"`
	Errors []string `json:"errors"`
	User   string   `json:"user"`
	Token  string   `json:"token"`
	Device string   `json:"device"`
}

// explain reads a response, in which "status" says whether it succeeded.
func explain(a chat.Response) *chat.ServiceError {
	var body response
	switch known := a.Decode(&body); {
	case a.OK() && !known:
		return &chat.ServiceError{Text: "the answer is not that of Pushover", Option: "url"}
	case a.OK() && body.Status == 1, !a.OK() && len(body.Errors) == 0, a.Status >= 500:
		return nil
	}
	r := &chat.ServiceError{Text: strings.Join(body.Errors, "; ")}
	switch {
	case a.Status == http.StatusTooManyRequests:
		r.Wait = max(httpclient.ParseRetryAfter(a.Header, time.Now()), untilReset(a.Header, time.Now()))
	case body.Token != "":
		r.Kind, r.Option = sdk.ErrUnauthorized, "token"
	case body.User != "":
		r.Kind, r.Option = sdk.ErrUnauthorized, "user and device"
	case body.Device != "":
		r.Option = "device"
	}
	return r
}

// untilReset is how long it takes until the application may send again:
// https://pushover.net/api#limits. It is 0 when the response does not say.
func untilReset(h http.Header, now time.Time) time.Duration {
	seconds, err := strconv.ParseInt(h.Get("X-Limit-App-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, time.Unix(seconds, 0).Sub(now))
}
