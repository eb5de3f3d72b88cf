package option

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Show returns values as the HTTP interface shows them: secrets masked,
// durations in milliseconds, dotted names nested ("tls.verify" becomes
// tls: {verify}). With all set, a secret is masked even when its Mask is MaskNone.
func (s Schema) Show(values Values, all bool) map[string]any {
	shown := map[string]any{}
	for _, o := range s {
		v, set := values[o.Name]
		if !set {
			continue
		}
		if d, ok := v.(time.Duration); ok {
			v = d.Milliseconds()
		}
		nest(shown, o.Name, o.masked(v, all))
	}
	return shown
}

func (o Option) masked(v any, all bool) any {
	mask := o.Mask
	if o.Secret && (mask == "" || mask == MaskNone && all) {
		mask = MaskFirst
	}
	switch v := v.(type) {
	case string:
		return mask.apply(v, o.Secret)
	case []string:
		out := make([]string, len(v))
		for i, item := range v {
			out[i] = mask.apply(item, o.Secret)
		}
		return out
	}
	if mask == MaskFirst {
		return "***"
	}
	return v
}

func (m Mask) apply(text string, secret bool) string {
	switch m {
	case MaskFirst:
		return First(text)
	case MaskURL:
		return maskURL(text, secret)
	case "":
		// No option asks for a URL with a password, but nothing keeps one out, in lists of addresses neither.
		if _, err := url.Parse(text); err == nil {
			return maskURL(text, false)
		}
	}
	return text
}

// First shows the first character of a secret and an asterisk for each of the
// others. A secret of one character is one asterisk.
func First(secret string) string {
	n := utf8.RuneCountInString(secret)
	if n < 2 {
		return strings.Repeat("*", n)
	}
	_, size := utf8.DecodeRuneInString(secret)
	return secret[:size] + strings.Repeat("*", n-1)
}

// hidden stands for a part of a URL that is not shown.
const hidden = "***"

// maskURL hides the password of a URL. When the whole is a secret it leaves
// only the scheme, the host and the names of the query: web hooks have their
// tokens in the path and the query, and some APIs in the place of the user.
func maskURL(text string, secret bool) string {
	u, err := url.Parse(text)
	if err != nil || secret && u.Host == "" {
		return First(text)
	}
	_, password := u.User.Password()
	if !password && !secret {
		return text
	}
	switch {
	case password:
		u.User = url.UserPassword(u.User.Username(), hidden)
	case u.User != nil:
		u.User = url.User(hidden)
	}
	if secret {
		hideParts(u)
	}
	// Its parts escape the asterisks.
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", hidden)
}

// hideParts hides what follows the host of a URL.
func hideParts(u *url.URL) {
	if strings.Trim(u.Path, "/") != "" {
		u.Path, u.RawPath = "/"+hidden, ""
	}
	if u.RawQuery != "" {
		values := u.Query()
		for name := range values {
			values[name] = []string{hidden}
		}
		u.RawQuery = values.Encode()
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = hidden, ""
	}
}

// nest puts v at a dotted path. Where the path runs into a value ("from" and
// "from.name"), the rest of the name stays dotted beside it.
func nest(m map[string]any, path string, v any) {
	head, rest, dotted := strings.Cut(path, ".")
	if !dotted {
		m[path] = v
		return
	}
	switch sub := m[head].(type) {
	case nil:
		child := map[string]any{}
		nest(child, rest, v)
		m[head] = child
	case map[string]any:
		nest(sub, rest, v)
	default:
		m[path] = v
	}
}

// Secrets returns the texts in values that must never be written anywhere:
// secret options, and the password inside any URL.
func (s Schema) Secrets(values Values) []string {
	var secrets []string
	add := func(o Option, text string) {
		if o.Secret {
			secrets = append(secrets, text)
		}
		if u, err := url.Parse(text); err == nil {
			if p, _ := u.User.Password(); p != "" {
				secrets = append(secrets, p)
			}
		}
	}
	for _, o := range s {
		switch v := values[o.Name].(type) {
		case string:
			add(o, v)
		case []string:
			for _, item := range v {
				add(o, item)
			}
		}
	}
	return secrets
}
