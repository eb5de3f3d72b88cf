package conform

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// minSecret is how long a secret must be for its appearance to be no accident.
const minSecret = 6

// recorder keeps the texts that an instance puts out and finds secrets that leak into them.
type recorder struct {
	mu         sync.Mutex
	secrets    map[string]string // text → what it is
	short      []string          // what is too short to search for
	statements []statement
}

type statement struct{ what, text string }

// newRecorder makes a recorder of the secrets in options.
func newRecorder(schema option.Schema, options map[string]any) *recorder {
	w := &recorder{secrets: map[string]string{}}
	values, _, _ := schema.Resolve(options)
	for _, o := range schema {
		one := option.Schema{o}
		for _, text := range one.Secrets(option.Values{o.Name: values[o.Name]}) {
			for _, part := range secretParts(o, text) {
				w.addSecret(fmt.Sprintf("secret option %q", o.Name), part)
			}
		}
	}
	return w
}

// secretParts are the parts of a secret that give it away. Of a secret URL,
// such as a web hook, the host may be named; the rest may not.
func secretParts(o option.Option, text string) []string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !o.Secret {
		parts := []string{text}
		if _, value, has := strings.Cut(text, "="); has && o.Type == option.List && len(value) >= minSecret {
			parts = append(parts, value) // of Name=value
		}
		return parts
	}
	var parts []string
	if p, has := u.User.Password(); has {
		parts = append(parts, p)
	}
	for _, segment := range strings.Split(u.Path, "/") {
		if len(segment) >= minSecret {
			parts = append(parts, segment)
		}
	}
	for _, values := range u.Query() {
		for _, v := range values {
			if len(v) >= minSecret {
				parts = append(parts, v)
			}
		}
	}
	return parts
}

// addSecret adds a secret; what says where it comes from.
func (w *recorder) addSecret(what, secret string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case secret == "":
	case len(secret) < minSecret:
		w.short = append(w.short, what)
	default:
		w.secrets[secret] = what
	}
}

func (w *recorder) record(what string, texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range texts {
		w.statements = append(w.statements, statement{what, text})
	}
}

func (w *recorder) recordError(call string, err error) {
	if err != nil {
		w.record("error of "+call, err.Error())
	}
}

// inspect fails the test when a secret leaked, or when a call panicked.
func (w *recorder) inspect(t *testing.T, log *plugintest.Log) {
	w.record("log", log.Lines()...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.short {
		t.Errorf("give the %s a recognisable value of %d characters or more", what, minSecret)
	}
	for _, s := range w.statements {
		if what, found := w.find(s.text); found {
			t.Errorf("the %s shows the %s: %s", s.what, what, s.text)
		}
		if s.what == "log" && isPanic(s.text) {
			t.Errorf("a call panicked: %s", s.text)
		}
	}
}

func isPanic(line string) bool {
	var entry struct {
		Message string `json:"@message"`
		Stack   string `json:"stack"`
	}
	return json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "panic" && entry.Stack != ""
}

// find looks for a secret in text: as it is, escaped, or inside something in base64.
func (w *recorder) find(text string) (what string, found bool) {
	texts := append([]string{text}, decoded(text)...)
	for secret, what := range w.secrets {
		forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), jsonEscaped(secret)}
		if slices.ContainsFunc(texts, func(t string) bool {
			return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(t, form) })
		}) {
			return what, true
		}
	}
	return "", false
}

func jsonEscaped(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return strings.Trim(string(b), `"`)
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)

// decoded returns what the base64 texts in text stand for, such as the user
// and password of an Authorization header.
func decoded(text string) []string {
	var all []string
	for _, run := range base64Run.FindAllString(text, -1) {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(run); err == nil {
				all = append(all, string(b))
			}
		}
	}
	return all
}
