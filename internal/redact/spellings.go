package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// spellings returns the forms of secret that are blanked, each at least Shortest bytes long.
func spellings(secret string) []string {
	plain := []string{secret, strings.TrimSpace(secret)}
	// A value of several lines, such as a private key, is logged line by line.
	// Short lines ("{") are no secret.
	for line := range strings.Lines(secret) {
		if line = strings.TrimRight(line, "\r\n"); len(strings.TrimSpace(line)) >= 2*Shortest {
			plain = append(plain, line)
		}
	}
	var carried []string
	for _, s := range plain {
		if len(s) >= Shortest {
			carried = append(carried, s, quoted(s),
				url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":"))
			carried = append(carried, inBase64(s)...)
		}
	}
	slices.Sort(carried)
	var all []string
	for _, s := range slices.Compact(carried) {
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
