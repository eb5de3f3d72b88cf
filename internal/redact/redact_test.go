package redact

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestSecretsAreBlankedInEachSpelling(t *testing.T) {
	const secret = `p@ss "wörd"/+?`
	s := New("abc", secret, "se", "secret", "secret-longer")
	for text, want := range map[string]string{
		"abc is too short":              "abc is too short",
		"a secret-longer, secret":       "a ***, ***",
		"secre":                         "secre",
		"of " + secret + "!":            "of ***!",
		"?t=" + url.QueryEscape(secret): "?t=***",
		`{"t":"p@ss \"wörd\"/+?"}`:      `{"t":"***"}`,
		base64.StdEncoding.EncodeToString([]byte(secret)): "***",
	} {
		if got := s.Blank(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	header := base64.StdEncoding.EncodeToString([]byte("ana:" + secret))
	if got := s.Blank(header); !strings.Contains(got, Blank) || len(got) > 12 {
		t.Errorf("%q became %q", header, got)
	}
}

func TestSecretsWithoutAny(t *testing.T) {
	for _, s := range []Secrets{{}, New(), New("", "abc")} {
		if got := s.Blank("text abc"); got != "text abc" || s.Longest() != 0 {
			t.Errorf("%q, %d", got, s.Longest())
		}
	}
}

func TestWithKeepsTheSecretsBefore(t *testing.T) {
	few := New("first-secret")
	more := few.With("another-secret", "first-secret")
	if got := more.Blank("first-secret another-secret"); got != "*** ***" {
		t.Errorf("%q", got)
	}
	if got := few.Blank("first-secret another-secret"); got != "*** another-secret" {
		t.Errorf("%q", got)
	}
	if more.Longest() < len("another-secret") {
		t.Errorf("the longest has %d bytes", more.Longest())
	}
}

func TestErrorKeepsKind(t *testing.T) {
	kind := errors.New("first-secret is wrong")
	if err := Error(kind, New("first-secret").Blank); err.Error() != "*** is wrong" || !errors.Is(err, kind) {
		t.Error(err)
	}
	if err := Error(kind, New().Blank); err != kind {
		t.Error(err)
	}
	if err := Error(nil, New().Blank); err != nil {
		t.Error(err)
	}
}

func TestLinesBlankSecretsOfSeveralLines(t *testing.T) {
	blank := New("first part\nsecond part", "t0ps3cret").Blank
	got := Lines([]string{"before", "key: first part", "second part;", "with t0ps3cret", "", "after"}, blank)
	if want := []string{"before", Blank, Blank, "with " + Blank, "", "after"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
