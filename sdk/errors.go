package sdk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// FieldError says which option or field is wrong and how to make it right.
type FieldError struct {
	Field  string
	Detail string
}

func (e FieldError) Error() string {
	if e.Field == "" {
		return e.Detail
	}
	return e.Field + ": " + e.Detail
}

// InvalidError means the input is wrong; asking again with the same input cannot help.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Error()
	}
	return strings.Join(parts, "; ")
}

// Invalid returns an *InvalidError about one field.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Fields: []FieldError{{Field: field, Detail: fmt.Sprintf(format, args...)}}}
}

// RateLimitedError means that the other side limits the rate of requests.
type RateLimitedError struct {
	// After is how long to wait; 0 when the other side did not say.
	After time.Duration
	Err   error
}

func (e *RateLimitedError) Error() string { return e.Err.Error() }
func (e *RateLimitedError) Unwrap() error { return e.Err }

// RateLimited wraps err as a *RateLimitedError.
func RateLimited(after time.Duration, err error) error {
	return &RateLimitedError{After: after, Err: err}
}

// The kinds of failure a plugin can tell its host. Wrap them with %w; the host
// finds them with errors.Is whatever process they come from.
var (
	// ErrUnauthorized: credentials are missing, wrong or not enough. Not retried until reconfigured.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrNotFound: the thing asked about does not exist. Not retried.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: the other side cannot be reached or failed; worth trying again.
	ErrUnavailable = errors.New("unavailable")
	// ErrUnsupported: the plugin does not have this ability.
	ErrUnsupported = errors.New("not supported")
)

// kindError gives an error one of the kinds above without adding to its text.
type kindError struct {
	kind error
	err  error
}

func (e *kindError) Error() string        { return e.err.Error() }
func (e *kindError) Unwrap() error        { return e.err }
func (e *kindError) Is(target error) bool { return target == e.kind }

// WithKind returns err with the same text, answering errors.Is(kind). A nil err stays nil.
func WithKind(kind, err error) error {
	if err == nil {
		return nil
	}
	return &kindError{kind: kind, err: err}
}

// remedyError adds to an error what to do about it.
type remedyError struct {
	error
	remedy string
}

func (e *remedyError) Unwrap() error { return e.error }

// WithRemedy returns err, with the same text and kind, and what a user can do about
// it, in words: "give the user of dogwatch the group docker". The host shows both. A nil
// err stays nil.
func WithRemedy(err error, remedy string) error {
	if err == nil || remedy == "" {
		return err
	}
	return &remedyError{err, remedy}
}

// Remedy returns what WithRemedy added to err; "" when it added nothing.
func Remedy(err error) string {
	var with *remedyError
	if errors.As(err, &with) {
		return with.remedy
	}
	return ""
}

// Retryable reports whether trying again later may help: the error is
// ErrUnavailable, a RateLimitedError or a deadline that passed.
func Retryable(err error) bool {
	var limited *RateLimitedError
	return errors.Is(err, ErrUnavailable) || errors.As(err, &limited) || errors.Is(err, context.DeadlineExceeded)
}

// RedactURL returns u without its user, password, query and fragment, fit for logs and errors.
func RedactURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	c := *u
	c.RawQuery, c.Fragment, c.RawFragment = "", "", ""
	if c.User == nil {
		return c.String()
	}
	c.User = url.User("***")
	// A URL escapes the asterisks.
	return strings.Replace(c.String(), "%2A%2A%2A@", "***@", 1)
}
