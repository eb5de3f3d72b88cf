package logging

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/dogwatch/dogwatch/internal/linktoken"
	"github.com/dogwatch/dogwatch/internal/visible"
)

// Blank stands where a secret stood.
const Blank = "***"

// shortest is the length, in bytes, from which a text is taken for a secret:
// blanking shorter ones would make the log unreadable and hide nothing.
const shortest = 4

// Redactor blanks the tokens of signed links, and every secret it was given, in each spelling in which it may
// turn up: plain, escaped for JSON, Go or the terminal, escaped for URLs, and in
// Base64 (also as part of a longer text, as in an Authorization header). It
// works on whole log entries: a secret that is cut in two is not found. All
// methods may be called concurrently; those of a nil *Redactor, but for Add,
// blank tokens only.
type Redactor struct {
	mu       sync.Mutex
	known    map[string]bool
	replacer atomic.Pointer[strings.Replacer]
}

// Add registers secrets. Those shorter than four bytes are ignored.
func (r *Redactor) Add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.known)
	if r.known == nil {
		r.known = map[string]bool{}
	}
	for _, secret := range secrets {
		for _, s := range spellings(secret) {
			r.known[s] = true
		}
	}
	if len(r.known) == before {
		return
	}
	texts := make([]string, 0, len(r.known))
	for s := range r.known {
		texts = append(texts, s)
	}
	// Of two that begin at the same place the first in the list is taken: the longer must come first.
	slices.SortFunc(texts, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(texts))
	for _, s := range texts {
		pairs = append(pairs, s, Blank)
	}
	r.replacer.Store(strings.NewReplacer(pairs...))
}

// String returns what can be seen of a text with every secret blanked: for errors and other texts of
// foreign origin that leave the process other than by the log.
func (r *Redactor) String(text string) string {
	blanked := r.blank(text)
	if seen := visible.Text(blanked); seen != blanked {
		return r.blank(seen) // a secret may have been in it with something invisible between
	}
	return blanked
}

// blank returns text with every secret blanked.
func (r *Redactor) blank(text string) string {
	text = linktoken.Blank(text, Blank)
	if r == nil {
		return text
	}
	replacer := r.replacer.Load()
	if replacer == nil {
		return text
	}
	return replacer.Replace(text)
}

// Writer returns a writer that passes on to w what it is given, with secrets
// blanked. Each Write must be a whole entry. It may be used concurrently if w may.
func (r *Redactor) Writer(w io.Writer) io.Writer { return &redacted{to: w, by: r} }

type redacted struct {
	to io.Writer
	by *Redactor
}

func (w *redacted) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.by.blank(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// spellings returns the forms of secret that are blanked, each at least shortest bytes long.
func spellings(secret string) []string {
	plain := []string{secret, strings.TrimSpace(secret)}
	// A value of several lines, such as a private key, is logged line by line.
	// Short lines ("{") are no secret.
	for line := range strings.Lines(secret) {
		if line = strings.TrimRight(line, "\r\n"); len(strings.TrimSpace(line)) >= 2*shortest {
			plain = append(plain, line)
		}
	}
	var carried []string
	for _, s := range plain {
		if len(s) >= shortest {
			carried = append(carried, s, quoted(s),
				url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":"))
			carried = append(carried, inBase64(s)...)
		}
	}
	var all []string
	for _, s := range carried {
		all = append(all, s, quoted(s), inJSON(s, true), inJSON(s, false), onTerminal(s, true), onTerminal(s, false))
	}
	return all
}

func quoted(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

func inJSON(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(s) != nil {
		return s
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}

// onTerminal is s as hclog writes it in its text format: what cannot be printed
// is escaped, and quotation marks are where they stand around the value.
func onTerminal(s string, marks bool) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsPrint(c) && (c != '"' || !marks) {
			b.WriteRune(c)
			continue
		}
		b.WriteString(quoted(string(c)))
	}
	return b.String()
}

// inBase64 returns what s becomes in Base64: alone, and inside a longer text at
// each of the three places that differ. There its edges, which depend on the
// neighbours, are cut off; what is shorter than six characters then would match
// by chance and is left out.
func inBase64(s string) []string {
	forms := []string{base64.StdEncoding.EncodeToString([]byte(s))}
	for before := range 3 {
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), s...))
		from := (before*8 + 5) / 6
		to := (before + len(s)) * 8 / 6
		if to-from >= 6 {
			forms = append(forms, code[from:to])
		}
	}
	for _, f := range forms {
		if web := strings.NewReplacer("+", "-", "/", "_").Replace(f); web != f {
			forms = append(forms, web)
		}
	}
	return forms
}
