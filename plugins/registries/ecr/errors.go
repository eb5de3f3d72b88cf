package ecr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// service is a service of AWS, in the words of errors.
type service struct {
	name string
	// shown is what it refuses, and remedy what to do about that.
	shown, remedy string
}

// keysError is a failure to find credentials for AWS. It has been explained.
type keysError struct{ error }

func (e *keysError) Unwrap() error { return e.error }

// explain shortens an error of the SDK, without request ids and what else of a
// response the SDK repeats.
func (s service) explain(err error) error {
	var keys *keysError
	var send *smithyhttp.RequestSendError
	code, status := codeOf(err), statusOf(err)
	switch {
	case errors.As(err, &keys):
		return keys.error
	case errors.Is(err, httpclient.ErrTooLarge):
		return s.odd("far too much")
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("ask %s: %w", s.name, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &send):
		return fmt.Errorf("ask %s: %w", s.name, context.DeadlineExceeded)
	case errors.As(err, &send):
		// the HTTP client has explained it
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("ask %s: %w", s.name, send.Err))
	case strings.Contains(code, "Throttl"), strings.Contains(code, "TooManyRequests"),
		status == http.StatusTooManyRequests:
		return sdk.RateLimited(0, fmt.Errorf("%s has had too many requests: %s", s.name, code))
	case status/100 == 2:
		return s.odd("no authorization")
	case status == 0:
		return s.odd("nothing that can be read")
	case status >= 500, status < 400:
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s failed: %s", s.name, code))
	}
	return sdk.WithKind(sdk.ErrUnauthorized, fmt.Errorf("%s refused %s: %s; %s", s.name, s.shown, code, s.remedy))
}

func (s service) odd(what string) error {
	return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s answered with %s", s.name, what))
}

// codeOf is the name of an AWS error, or the status of a response that has none,
// perhaps because it is of a proxy in between. Whatever else a server writes in
// place of a name is not repeated.
func codeOf(err error) string {
	var named smithy.APIError
	code := ""
	if errors.As(err, &named) && named.ErrorCode() != "UnknownError" { // the SDK's word for none
		code = named.ErrorCode()
	}
	switch status := statusOf(err); {
	case code == "":
		return strings.ToLower(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	case len(code) > 60 ||
		strings.ContainsFunc(code, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }):
		return "an unreadable error"
	}
	return code
}

// statusOf is the status of the response behind an error; 0 when there was none.
func statusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}
