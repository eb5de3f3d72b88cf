package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// statusError is a response with a status other than 2xx and 304.
type statusError struct {
	status int
	// message is the reason that the response gives, without secrets; it may be empty.
	message string
	// after is the time of Retry-After, or 0.
	after time.Duration
	// limit is the rate limit in the body of a 429.
	limit registry.Limit
	// challenge is nil when the response has none.
	challenge *challenge
	// source is where the response came from, after redirects.
	source *url.URL
	// public means that a public address was on the way there.
	public bool
}

func (e *statusError) Error() string {
	text := strings.ToLower(strings.TrimSpace(fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))))
	if e.message != "" {
		text += ": " + e.message
	}
	return text
}

// limited reports whether the response is due to a rate limit, or asks for a pause like one.
func (e *statusError) limited() bool {
	return e.status == http.StatusTooManyRequests || e.status == http.StatusServiceUnavailable && e.after > 0
}

// withKind returns err as one of the kinds that registry.Registry promises.
func (e *statusError) withKind(err error) error {
	switch {
	case e.limited():
		return sdk.RateLimited(e.after, err)
	case e.status == http.StatusUnauthorized, e.status == http.StatusForbidden:
		return sdk.WithKind(sdk.ErrUnauthorized, err)
	case e.status == http.StatusNotFound, e.status == http.StatusGone:
		return sdk.WithKind(sdk.ErrNotFound, err)
	}
	return sdk.WithKind(sdk.ErrUnavailable, err)
}

// protocolError is the error about a response that breaks the protocol.
func protocolError(format string, args ...any) error {
	return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("the registry "+format, args...))
}

// webPage is the error about a response that is a web page.
func webPage(resp *http.Response) error {
	return protocolError("answered with a web page (%.40q): is a proxy or a login page in between, or the address wrong?", resp.Header.Get("Content-Type"))
}

func isWebPage(resp *http.Response) bool {
	return strings.Contains(resp.Header.Get("Content-Type"), "html")
}

// wrap says what was being done when err happened, and gives err its kind.
func (r *Registry) wrap(doing string, repo registry.Repository, err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("%s at %s", doing, repo.Host)
	var status *statusError
	if !errors.As(err, &status) {
		err = fmt.Errorf("%s: %w", text, err)
		if !hasKind(err) {
			err = sdk.WithKind(sdk.ErrUnavailable, err)
		}
		return err
	}
	var service *tokenError
	if errors.As(err, &service) && (status.status == http.StatusNotFound || status.status == http.StatusGone) {
		// It is the token service that is not there, not the repository.
		return sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s: %w", text, err))
	}
	if status.status == http.StatusUnauthorized || status.status == http.StatusForbidden {
		err = status.withKind(fmt.Errorf("%s: %w; %s", text, err, r.remedy(repo)))
		if r.defaultSource(r.server(repo.Host)) != "" {
			err = sdk.WithRemedy(err, "log in anew (docker login), or out (docker logout) where the images are public")
		}
		return err
	}
	return status.withKind(fmt.Errorf("%s: %w", text, err))
}

// hasKind reports whether err has a kind already, or means that the caller cancelled.
func hasKind(err error) bool {
	var limited *sdk.RateLimitedError
	var invalid *sdk.InvalidError
	if errors.As(err, &limited) || errors.As(err, &invalid) {
		return true
	}
	kinds := []error{sdk.ErrUnauthorized, sdk.ErrNotFound, sdk.ErrUnavailable, sdk.ErrUnsupported, context.Canceled}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// server returns where images of host are looked up, which may be a mirror.
func (r *Registry) server(host string) string {
	if base, err := r.base(host); err == nil {
		return base.Host
	}
	return host
}

// remedy says how to get access.
func (r *Registry) remedy(repo registry.Repository) string {
	host := repo.Host
	server := r.server(host)
	switch source := r.defaultSource(server); {
	case r.Login == nil && repo.Credentials != (sdk.Credentials{}):
		return "check the pull secret with which the image is pulled, and whether it may read the repository"
	case source != "":
		return fmt.Sprintf("check the credentials for %s in %s, which docker login writes, and whether they may read the repository", server, source)
	case r.Keys == "":
		return "the repository does not exist or is private; for a private one configure a registry of type custom for " + host
	case r.Login == nil:
		return fmt.Sprintf("the repository does not exist or is private; for a private one set %s of %s", r.Keys, r.Instance)
	}
	return fmt.Sprintf("check %s of %s, and whether they may read the repository", r.Keys, r.Instance)
}

// maxErrorBody is how much of the body of a failure is read.
const maxErrorBody = 16 << 10

// newStatusError returns the error of a response.
func newStatusError(resp *http.Response, now time.Time) *statusError {
	e := &statusError{
		status: resp.StatusCode, source: resp.Request.URL, public: httpclient.FromPublic(resp),
		after: httpclient.ParseRetryAfter(resp.Header, now),
	}
	if c, found := findChallenge(resp.Header); found {
		c.public = e.public
		e.challenge = &c
	}
	if isWebPage(resp) {
		e.message = "a web page"
		return e
	}
	// What cannot be read adds nothing to the status.
	body, _ := httpclient.ReadAll(resp, maxErrorBody)
	e.message = messageIn(body)
	if e.status == http.StatusTooManyRequests {
		if e.after == 0 {
			e.after = retryAfterIn(e.message)
		}
		e.limit = allowedIn(e.message)
		e.message = limitReason(e.message, resp.Header)
	}
	e.message = httpclient.Clean(e.message, secretsOf(resp.Request)...)
	return e
}

// messageIn finds the message in the error formats of registries
// (distribution specification, "Error Codes") and of token services.
func messageIn(body []byte) string {
	var response struct {
		Errors []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
		Details string `json:"details"`
		Message string `json:"message"`
		Error   string `json:"error"`
		Why     string `json:"error_description"`
	}
	if json.Unmarshal(body, &response) != nil && len(response.Errors) == 0 {
		if text := strings.TrimSpace(string(body)); !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "<") {
			return text
		}
		return ""
	}
	for _, e := range response.Errors {
		if e.Message != "" || e.Code != "" {
			return strings.Trim(strings.ToLower(e.Code)+": "+e.Message, ": ")
		}
	}
	texts := []string{response.Why, response.Details, response.Message, response.Error}
	if i := slices.IndexFunc(texts, func(t string) bool { return t != "" }); i >= 0 {
		return texts[i]
	}
	return ""
}

// secretsOf returns the credentials in a request.
func secretsOf(req *http.Request) []string {
	if form, err := formOf(req); err == nil && form.Has("refresh_token") {
		return []string{form.Get("refresh_token")}
	}
	_, value, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	secrets := []string{value}
	if c, ok := decodeBasic(value); ok {
		secrets = append(secrets, c.Password)
	}
	return secrets
}

// formOf reads the form that a request carries.
func formOf(req *http.Request) (url.Values, error) {
	if req.GetBody == nil {
		return nil, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return url.ParseQuery(string(text))
}

// readError explains why a response could not be read to its end. A failure of the
// connection and a body over its limit have been explained already.
func readError(err error, what string, offset int64) error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return protocolError("broke off %s after %d bytes", what, offset)
	case errors.As(err, &syntax), errors.As(err, &shape):
		return protocolError("answered something else than %s (malformed JSON at byte %d)", what, offset)
	case errors.Is(err, httpclient.ErrTooLarge):
		return fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// statusOf returns the HTTP status behind an error, or 0.
func statusOf(err error) int {
	var status *statusError
	if errors.As(err, &status) {
		return status.status
	}
	return 0
}

// drain reads the little that may be left of a response, so that its connection is reused.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 16<<10)
	resp.Body.Close()
}
