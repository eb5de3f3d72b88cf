package option_test

import (
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/sdk/option"
)

func TestFirst(t *testing.T) {
	for secret, want := range map[string]string{
		"": "", "a": "*", "ab": "a*", "secret": "s*****", "éàü": "é**", "\xff\xfe": "\xff*",
	} {
		got := option.First(secret)
		if got != want {
			t.Errorf("%q: got %q, want %q", secret, got, want)
		}
		if utf8.RuneCountInString(got) != utf8.RuneCountInString(secret) {
			t.Errorf("%q: the length is not kept in %q", secret, got)
		}
	}
}

func TestShow(t *testing.T) {
	s := option.Schema{
		{Name: "plain", Type: option.String},
		{Name: "token", Type: option.String, Secret: true},
		{Name: "pass", Type: option.String, Secret: true, Mask: option.MaskNone},
		{Name: "hook", Type: option.URL, Secret: true},
		{Name: "proxy", Type: option.URL, Mask: option.MaskURL},
		{Name: "url", Type: option.URL},
		{Name: "masked", Type: option.String, Mask: option.MaskFirst},
		{Name: "headers", Type: option.List, Secret: true},
		{Name: "list", Type: option.List},
		{Name: "pin", Type: option.Int, Secret: true},
		{Name: "wait", Type: option.Duration},
		{Name: "unset", Type: option.String},
		{Name: "from", Type: option.String},
		{Name: "from.name", Type: option.String},
		{Name: "tls.verify", Type: option.Bool},
		{Name: "tls.client.cert", Type: option.String},
	}
	values := option.Values{
		"plain": "p", "token": "secret", "pass": "stored", "hook": "https://x/y", "proxy": "http://ann:s3cret@h:1/p?q=1",
		"url": "http://ann:s3cret@h", "masked": "name", "headers": []string{"A=b", "C"}, "list": []string{"a"},
		"pin":  int64(1234),
		"wait": 90 * time.Second, "from": "a@b", "from.name": "Ann", "tls.verify": true, "tls.client.cert": "c",
	}
	want := map[string]any{
		"plain": "p", "token": "s*****", "pass": "stored", "hook": "h**********", "proxy": "http://ann:***@h:1/p?q=1",
		"url": "http://ann:***@h", "masked": "n***", "headers": []string{"A**", "*"}, "list": []string{"a"}, "pin": "***",
		"wait": int64(90000), "from": "a@b", "from.name": "Ann",
		"tls": map[string]any{"verify": true, "client": map[string]any{"cert": "c"}},
	}
	if got := s.Show(values, false); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	want["pass"] = "s*****"
	if got := s.Show(values, true); !reflect.DeepEqual(got, want) {
		t.Errorf("all masked: got  %v\nwant %v", got, want)
	}
	if values["token"] != "secret" || values["headers"].([]string)[0] != "A=b" {
		t.Errorf("showing changed the values: %v", values)
	}
}

func TestShowURL(t *testing.T) {
	s := option.Schema{{Name: "url", Type: option.URL, Mask: option.MaskURL}}
	for text, want := range map[string]string{
		"https://ntfy.sh/x":          "https://ntfy.sh/x",
		"https://ann@ntfy.sh":        "https://ann@ntfy.sh",
		"https://ann:p%40ss@ntfy.sh": "https://ann:***@ntfy.sh",
		"https://:pass@ntfy.sh":      "https://:***@ntfy.sh",
		"https://ntfy.sh?a=b":        "https://ntfy.sh?a=b",
		"http://a b:pass@/":          "h****************",
	} {
		if got := s.Show(option.Values{"url": text}, false)["url"]; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	s[0].Secret = true
	for text, want := range map[string]string{
		"https://ann:pass@h/p?token=x&a=b&a=c&d#f": "https://ann:***@h/***?a=***&d=***&token=***#***",
		"https://h/hooks/s3cret%2Fx":               "https://h/***",
		"https://h:1/":                             "https://h:1/",
		"https://t0ken@h":                          "https://***@h",
		"discord:t0ken":                            "d************",
	} {
		if got := s.Show(option.Values{"url": text}, false)["url"]; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestShowHidesPasswordsOfAddresses: lists and plain texts may hold URLs, too.
func TestShowHidesPasswordsOfAddresses(t *testing.T) {
	s := option.Schema{{Name: "mirrors", Type: option.List}, {Name: "server", Type: option.String}, {
		Name: "pattern", Type: option.String,
	}}
	got := s.Show(option.Values{
		"mirrors": []string{"https://ann:s3cret@m/p?q", "b"}, "server": "tcp://ann:s3cret@h:1", "pattern": "100% ://x:y@",
	}, false)
	want := map[string]any{
		"mirrors": []string{"https://ann:***@m/p?q", "b"}, "server": "tcp://ann:***@h:1", "pattern": "100% ://x:y@",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSecrets(t *testing.T) {
	s := option.Schema{
		{Name: "plain", Type: option.String},
		{Name: "token", Type: option.String, Secret: true},
		{Name: "pass", Type: option.String, Secret: true, Mask: option.MaskNone},
		{Name: "url", Type: option.URL},
		{Name: "nopass", Type: option.URL},
		{Name: "headers", Type: option.List, Secret: true},
		{Name: "mirrors", Type: option.List},
		{Name: "unset", Type: option.String, Secret: true},
	}
	got := s.Secrets(option.Values{
		"plain": "p", "token": "t0ken", "pass": "stored", "url": "https://ann:s3cret@h", "nopass": "https://ann:@h",
		"headers": []string{"A=b", "C=d"}, "mirrors": []string{"https://m", "https://u:m1rror@m"},
	})
	want := []string{"t0ken", "stored", "s3cret", "A=b", "C=d", "m1rror"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
