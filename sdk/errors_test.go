package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestInvalid(t *testing.T) {
	err := fmt.Errorf("trigger.file.main: %w", sdk.Invalid("path", "want an absolute path, got %q", "x"))
	if want := `trigger.file.main: path: want an absolute path, got "x"`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	many := &sdk.InvalidError{Fields: []sdk.FieldError{{"a", "is required"}, {"", "and so on"}}}
	if want := "a: is required; and so on"; many.Error() != want {
		t.Errorf("got %q, want %q", many, want)
	}
	if sdk.Retryable(err) {
		t.Error("the same input is tried again")
	}
}

func TestWithKind(t *testing.T) {
	cause := errors.New("dial mx: refused")
	for _, kind := range []error{sdk.ErrUnauthorized, sdk.ErrNotFound, sdk.ErrUnavailable, sdk.ErrUnsupported} {
		err := fmt.Errorf("send: %w", sdk.WithKind(kind, cause))
		if err.Error() != "send: dial mx: refused" {
			t.Errorf("the kind changes the text to %q", err)
		}
		if !errors.Is(err, kind) || !errors.Is(err, cause) {
			t.Errorf("%v is no %v", err, kind)
		}
		for _, other := range []error{sdk.ErrUnauthorized, sdk.ErrNotFound, sdk.ErrUnavailable, sdk.ErrUnsupported} {
			if other != kind && errors.Is(err, other) {
				t.Errorf("%v of kind %v is a %v", err, kind, other)
			}
		}
		if sdk.WithKind(kind, nil) != nil {
			t.Error("no error became one")
		}
	}
}

func TestRateLimited(t *testing.T) {
	err := fmt.Errorf("push: %w", sdk.RateLimited(time.Minute, sdk.WithKind(sdk.ErrUnauthorized, errors.New("slow down"))))
	var limited *sdk.RateLimitedError
	if !errors.As(err, &limited) || limited.After != time.Minute || err.Error() != "push: slow down" {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, sdk.ErrUnauthorized) {
		t.Error("the cause is lost")
	}
}

func TestRetryable(t *testing.T) {
	for err, want := range map[error]bool{
		sdk.ErrUnavailable: true,
		sdk.WithKind(sdk.ErrUnavailable, errors.New("x")): true,
		sdk.RateLimited(0, errors.New("x")):               true,
		fmt.Errorf("x: %w", context.DeadlineExceeded):     true,
		context.Canceled:    false,
		sdk.ErrUnauthorized: false,
		sdk.ErrNotFound:     false,
		sdk.ErrUnsupported:  false,
		errors.New("x"):     false,
	} {
		if got := sdk.Retryable(err); got != want {
			t.Errorf("%v: got %t", err, got)
		}
	}
	if sdk.Retryable(nil) {
		t.Error("no error is tried again")
	}
}

func TestRedactURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://ghcr.io/v2":                          "https://ghcr.io/v2",
		"https://ann:s3cret@ghcr.io:8443/v2?k=s3cret": "https://***@ghcr.io:8443/v2",
		"https://s3cret@ghcr.io/#s3cret":              "https://***@ghcr.io/",
		"tcp://10.0.0.1:2376":                         "tcp://10.0.0.1:2376",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		before := u.String()
		if got := sdk.RedactURL(u); got != want || strings.Contains(got, "s3cret") {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if u.String() != before {
			t.Errorf("the URL itself was changed to %s", u)
		}
	}
	if got := sdk.RedactURL(nil); got != "" {
		t.Errorf("no URL is shown as %q", got)
	}
}
