package sink

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// ServiceError is how a service does not take a message, and the error that comes of it.
type ServiceError struct {
	// Set are options for this delivery; see Subject.With.
	Set map[string]any
	// Status and Response are what the service responds with. With Status 0, it is the
	// subject's own service that refuses.
	Status   int
	Response string
	// Kind is that of the error: a sentinel of package sdk, or an
	// *sdk.RateLimitedError with the delay. nil stands for an
	// *sdk.InvalidError, which is about Option.
	Kind   error
	Option string
	// Want is a part of the error's text.
	Want string
}

// ServiceErrors delivers to a service that refuses, and looks at each error: only
// what may pass by itself can be retried, and no error shows a secret option.
func (s Subject) ServiceErrors(t *testing.T, all map[string]ServiceError) {
	t.Helper()
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			refusing := s.With(r.Set)
			if r.Status != 0 {
				refusing.Service = func(t testing.TB) *Sink { return RespondWith(t, r.Status, r.Response) }
			}
			options := refusing.Working(t)
			err := Deliver(t, s.Type, options, triggertest.Request("nginx"))
			if problem := r.differs(err); problem != "" {
				t.Fatalf("%s, got %v (%#v)", problem, err, err)
			}
			for name, value := range options {
				if o, _ := s.Type.Options.Find(name); o.Secret && strings.Contains(err.Error(), fmt.Sprint(value)) {
					t.Errorf("the error shows the secret option %s: %v", name, err)
				}
			}
		})
	}
}

// differs says what is wrong with an error; "" for nothing.
func (r ServiceError) differs(err error) string {
	var invalid *sdk.InvalidError
	var limited, wait *sdk.RateLimitedError
	blames, rateLimit := errors.As(err, &invalid), errors.As(r.Kind, &wait)
	switch {
	case err == nil || !strings.Contains(err.Error(), r.Want):
		return fmt.Sprintf("want %q in the error", r.Want)
	case r.Kind == nil && (!blames || len(invalid.Fields) != 1 || invalid.Fields[0].Field != r.Option):
		return fmt.Sprintf("want it to blame the option %q", r.Option)
	case r.Kind != nil && blames:
		return "want it to blame no option"
	case rateLimit && (!errors.As(err, &limited) || limited.After != wait.After):
		return fmt.Sprintf("want a rate limit of %v", wait.After)
	case r.Kind != nil && !rateLimit && !errors.Is(err, r.Kind):
		return fmt.Sprintf("want %v", r.Kind)
	case sdk.Retryable(err) != (rateLimit || errors.Is(r.Kind, sdk.ErrUnavailable)):
		return fmt.Sprintf("it can be tried again: %v", sdk.Retryable(err))
	}
	return ""
}
