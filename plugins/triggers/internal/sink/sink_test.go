package sink

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestRefusalDiffersFromError(t *testing.T) {
	said := errors.New("the service refuses the message")
	kind := func(kind error) error { return sdk.WithKind(kind, said) }
	tests := map[string]struct {
		refusal Refusal
		err     error
		want    string
	}{
		"blamed":           {Refusal{Option: "url", Want: "no hook"}, sdk.Invalid("url", "no hook"), ""},
		"wrapped":          {Refusal{Option: "url"}, fmt.Errorf("deliver: %w", sdk.Invalid("url", "no hook")), ""},
		"no option blamed": {Refusal{}, sdk.Invalid("", "too long"), ""},
		"kind":             {Refusal{Kind: sdk.ErrUnauthorized, Want: "refuses"}, kind(sdk.ErrUnauthorized), ""},
		"away":             {Refusal{Kind: sdk.ErrUnavailable}, kind(sdk.ErrUnavailable), ""},
		"limited":          {Refusal{Kind: sdk.RateLimited(time.Second, nil)}, sdk.RateLimited(time.Second, said), ""},
		"no error":         {Refusal{Kind: sdk.ErrNotFound}, nil, `want "" in the error`},
		"other text":       {Refusal{Option: "url", Want: "no hook"}, sdk.Invalid("url", "gone"), `want "no hook"`},
		"other option":     {Refusal{Option: "url"}, sdk.Invalid("channel", "gone"), `the option "url"`},
		"two options": {Refusal{Option: "a"}, &sdk.InvalidError{
			Fields: []sdk.FieldError{{Field: "a"}, {Field: "b"}},
		}, `the option "a"`},
		"a kind instead": {Refusal{}, kind(sdk.ErrNotFound), `the option ""`},
		"other kind":     {Refusal{Kind: sdk.ErrUnauthorized}, kind(sdk.ErrNotFound), "want unauthorized"},
		"no kind":        {Refusal{Kind: sdk.ErrUnauthorized}, said, "want unauthorized"},
		"blamed as well": {Refusal{Kind: sdk.ErrUnauthorized},
			sdk.WithKind(sdk.ErrUnauthorized, sdk.Invalid("url", "gone")), "blame no option"},
		"other delay": {Refusal{Kind: sdk.RateLimited(0, nil)}, sdk.RateLimited(time.Second, said), "rate limit of 0s"},
		"no delay":    {Refusal{Kind: sdk.RateLimited(time.Second, nil)}, kind(sdk.ErrUnavailable), "rate limit of 1s"},
		"tried again": {Refusal{Kind: sdk.ErrUnauthorized},
			errors.Join(kind(sdk.ErrUnauthorized), sdk.ErrUnavailable), "tried again: true"},
		"blamed and away": {Refusal{}, sdk.WithKind(sdk.ErrUnavailable, sdk.Invalid("", "gone")), "tried again: true"},
	}
	for name, test := range tests {
		if got := test.refusal.differs(test.err); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
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
