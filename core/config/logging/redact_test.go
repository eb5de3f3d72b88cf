package logging

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/internal/redact"
)

// secrets of all sorts, none of which may be seen.
var secrets = []string{
	"hunter2", "p@ss wörd/+?&=%", `quo"te\back'slash`, "<script>&amp;", "tab\there", "eyJhbGciOi.J9-_x", "pässwörd",
	"😀😀😀", "a b", "12345",
	"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQ==\n-----END PRIVATE KEY-----\n",
	"{\"type\": \"service_account\",\n \"private_key\": \"x\\ny\"}", "\x00\x01binary\xff\xfe",
}

// TestLogHoldsNoSecret logs each secret in every way that comes to mind and
// looks for it, and for each of its lines, in what was written.
func TestLogHoldsNoSecret(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		for _, secret := range secrets {
			if len(secret) < redact.Shortest {
				continue
			}
			var out bytes.Buffer
			r := &Redactor{}
			r.Add(secret)
			log, err := New(Options{Level: "trace", Format: format, Output: &out, Redactor: r})
			if err != nil {
				t.Fatal(err)
			}
			escaped := url.URL{
				Scheme: "https", Host: "h", User: url.UserPassword("ana", secret), RawQuery: url.Values{"t": {secret}}.Encode(),
			}
			inJSON, _ := json.Marshal(map[string]string{"pass": secret})
			log.Info("the message "+secret, "value", secret, "error", errors.New("login with "+secret+" refused"))
			log.Info("quoted", "error", fmt.Errorf("got %q", secret), "twice", fmt.Sprintf("%q", fmt.Sprintf("%q", secret)))
			log.Info("list", "items", []string{secret, "x"}, "any", map[string]string{"k": secret}, "quote", hclog.Quote(secret))
			log.Info("url", "url", escaped.String(), "path", "/bot"+url.PathEscape(secret)+"/send", "body", string(inJSON))
			for _, user := range []string{"", "a", "an", "ana", "anna"} {
				pair := []byte(user + ":" + secret + strings.Repeat("!", len(user)))
				log.Info("header", "std", base64.StdEncoding.EncodeToString(pair), "url",
					base64.URLEncoding.EncodeToString(pair), "raw", base64.RawStdEncoding.EncodeToString([]byte(secret)))
			}
			log.With("implied", secret).Named("x").Warn("bye\n" + secret)
			for _, seen := range formsOf(secret) {
				if strings.Contains(out.String(), seen) {
					t.Errorf("%s: %q survives as %q in\n%s", format, secret, seen, out.String())
				}
			}
			if got := r.String("error: " + secret); strings.Contains(got, secret) {
				t.Errorf("String: %q", got)
			}
		}
	}
}

// formsOf returns what would give a secret away: its lines as they are, escaped and in Base64.
func formsOf(secret string) []string {
	parts := []string{secret, strings.TrimSpace(secret)}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 8 {
			parts = append(parts, line)
		}
	}
	var all []string
	for _, p := range parts {
		all = append(all, p, fmt.Sprintf("%q", p)[1:len(fmt.Sprintf("%q", p))-1], url.QueryEscape(p),
			base64.RawStdEncoding.EncodeToString([]byte(p)))
	}
	return all
}

func TestRedactorKeepsTheRest(t *testing.T) {
	r := &Redactor{}
	if got := r.String("nothing to hide"); got != "nothing to hide" {
		t.Error(got)
	}
	var none *Redactor
	if got := none.String("x"); got != "x" {
		t.Error(got)
	}
	r.Add("", "abc", "key", "secret", "secret-longer")
	for text, want := range map[string]string{
		"abc is too short":        "abc is too short",
		"a secret-longer, secret": "a ***, ***",
		"secre":                   "secre",
		"secretsecret":            "******",
	} {
		if got := r.String(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var out bytes.Buffer
	n, err := r.Writer(&out).Write([]byte("my secret\n"))
	if n != len("my secret\n") || err != nil || out.String() != "my ***\n" {
		t.Error(n, err, out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterReportsErrors(t *testing.T) {
	if n, err := (&Redactor{}).Writer(broken{}).Write([]byte("x")); n != 0 || err == nil {
		t.Error(n, err)
	}
}

func TestRedactorConcurrently(t *testing.T) {
	r := &Redactor{}
	r.Add("first-secret")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				secret := fmt.Sprintf("secret-%d-%d", i, j)
				r.Add(secret)
				if got := r.String("first-secret " + secret + "."); got != "*** ***." {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	all.Wait()
}

func FuzzRedactor(f *testing.F) {
	for _, s := range secrets {
		f.Add(s, "before ", " after")
	}
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		// Text that meets a blank may spell a secret by chance.
		if len(secret) < redact.Shortest || strings.Contains(secret, "*") {
			return
		}
		r := &Redactor{}
		r.Add(secret)
		for _, format := range []string{"text", "json"} {
			var out bytes.Buffer
			log, err := New(Options{Format: format, Output: &out, Redactor: r})
			if err != nil {
				t.Fatal(err)
			}
			log.Info("m", "v", secret)
			if format == "json" {
				var line map[string]string
				if json.Unmarshal(out.Bytes(), &line) == nil && line["v"] == secret {
					t.Errorf("%q survives in %s", secret, out.String())
				}
			}
			if plain := r.String(before + secret + after); strings.Contains(plain, secret) {
				t.Errorf("%q survives in %q", secret, plain)
			}
		}
	})
}

// BenchmarkRedactor measures one log line through a redactor that knows n secrets.
func BenchmarkRedactor(b *testing.B) {
	line := []byte(`2026-11-21T10:00:00.000Z [INFO]  check: checked container: container=local/nginx image=docker.io/library/nginx:1.27 took=12ms result=1.28.0` + "\n")
	for _, n := range []int{0, 1, 10, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := &Redactor{}
			for i := range n {
				r.Add(fmt.Sprintf("ghp_%032dAbC", i))
			}
			w := r.Writer(discard{})
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Write(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (discard) WriteString(s string) (int, error) { return len(s), nil }

func BenchmarkRedactorAdd(b *testing.B) {
	for b.Loop() {
		r := &Redactor{}
		for i := range 20 {
			r.Add(fmt.Sprintf("ghp_%032dAbC", i))
		}
	}
}

// TestRedactorDropsWhatCannotBeSeen, before and after which no secret is shown.
func TestRedactorDropsWhatCannotBeSeen(t *testing.T) {
	r := &Redactor{}
	r.Add("hunter2hunter2", "se\u200bcret\u200b-of-mine")
	for text, want := range map[string]string{
		"pull \u202eimage\x1b[2J: denied\r\nline\ttwo": "pull image[2J: denied\nline\ttwo",
		"hunter2\u200bhunter2":                         redact.Blank,
		"se\u200bcret\u200b-of-mine":                   redact.Blank,
	} {
		if got := r.String(text); got != want {
			t.Errorf("%+q became %+q, want %+q", text, got, want)
		}
	}
	var none *Redactor
	if got := none.String("a\u202eb"); got != "ab" {
		t.Errorf("%+q", got)
	}
}
