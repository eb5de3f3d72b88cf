package sink

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestServiceErrorDiffers(t *testing.T) {
	said := errors.New("the service refuses the message")
	kind := func(kind error) error { return sdk.WithKind(kind, said) }
	tests := map[string]struct {
		problem ServiceError
		err     error
		want    string
	}{
		"blamed":           {ServiceError{Option: "url", Want: "no hook"}, sdk.Invalid("url", "no hook"), ""},
		"wrapped":          {ServiceError{Option: "url"}, fmt.Errorf("deliver: %w", sdk.Invalid("url", "no hook")), ""},
		"no option blamed": {ServiceError{}, sdk.Invalid("", "too long"), ""},
		"kind":             {ServiceError{Kind: sdk.ErrUnauthorized, Want: "refuses"}, kind(sdk.ErrUnauthorized), ""},
		"away":             {ServiceError{Kind: sdk.ErrUnavailable}, kind(sdk.ErrUnavailable), ""},
		"limited":          {ServiceError{Kind: sdk.RateLimited(time.Second, nil)}, sdk.RateLimited(time.Second, said), ""},
		"no error":         {ServiceError{Kind: sdk.ErrNotFound}, nil, `want "" in the error`},
		"other text":       {ServiceError{Option: "url", Want: "no hook"}, sdk.Invalid("url", "gone"), `want "no hook"`},
		"other option":     {ServiceError{Option: "url"}, sdk.Invalid("channel", "gone"), `the option "url"`},
		"two options": {ServiceError{Option: "a"}, &sdk.InvalidError{
			Fields: []sdk.FieldError{{Field: "a"}, {Field: "b"}},
		}, `the option "a"`},
		"a kind instead": {ServiceError{}, kind(sdk.ErrNotFound), `the option ""`},
		"other kind":     {ServiceError{Kind: sdk.ErrUnauthorized}, kind(sdk.ErrNotFound), "want unauthorized"},
		"no kind":        {ServiceError{Kind: sdk.ErrUnauthorized}, said, "want unauthorized"},
		"blamed as well": {ServiceError{Kind: sdk.ErrUnauthorized},
			sdk.WithKind(sdk.ErrUnauthorized, sdk.Invalid("url", "gone")), "blame no option"},
		"other delay": {ServiceError{Kind: sdk.RateLimited(0, nil)}, sdk.RateLimited(time.Second, said), "rate limit of 0s"},
		"no delay":    {ServiceError{Kind: sdk.RateLimited(time.Second, nil)}, kind(sdk.ErrUnavailable), "rate limit of 1s"},
		"tried again": {ServiceError{Kind: sdk.ErrUnauthorized},
			errors.Join(kind(sdk.ErrUnauthorized), sdk.ErrUnavailable), "tried again: true"},
		"blamed and away": {ServiceError{}, sdk.WithKind(sdk.ErrUnavailable, sdk.Invalid("", "gone")), "tried again: true"},
	}
	for name, test := range tests {
		if got := test.problem.differs(test.err); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWith(t *testing.T) {
	s := Subject{
		Options: func(url string) map[string]any { return map[string]any{"url": url, "token": "a", "priority": 1} },
	}
	changed := s.With(map[string]any{"token": nil, "priority": 2}).At("/base")
	if got := fmt.Sprint(changed.Options("http://a"),
		s.Options("http://a")); got != "map[priority:2 url:http://a/base] map[priority:1 token:a url:http://a]" {
		t.Error(got)
	}
}

func TestFirst(t *testing.T) {
	for n, want := range map[int]string{5: "[\n  1…\n", 8: "[\n  1\n]\n"} {
		if got := First(n)(t, Call{Body: []byte("[1]")}); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
