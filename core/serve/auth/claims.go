package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dogwatch/dogwatch/internal/visible"
)

// claims are what a provider states about a user.
type claims map[string]any

// maxName bounds the names that providers give users.
const maxName = 200

// text returns a claim that is a string; "" when it is not.
func (c claims) text(name string) string {
	text, _ := c.find(name).(string)
	return strings.TrimSpace(text)
}

// list returns a claim that is a list of strings, or one string.
func (c claims) list(name string) []string {
	switch v := c.find(name).(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

// find returns a claim by its name or, where there is none, by the dots in it ("realm_access.roles").
func (c claims) find(name string) any {
	if v, has := c[name]; has {
		return v
	}
	head, rest, dotted := strings.Cut(name, ".")
	inner, nested := c[head].(map[string]any)
	if !dotted || !nested {
		return nil
	}
	return claims(inner).find(rest)
}

// admit returns the name of a user who may log in.
func (p *provider) admit(c claims) (string, error) {
	name, by := "", ""
	for _, by = range []string{p.options.UsernameClaim, "email", "preferred_username", "sub"} {
		if name = c.text(by); name != "" {
			break
		}
	}
	name = printable(name)
	if name == "" {
		return "", errors.New("the provider does not tell who the user is")
	}
	if len(p.options.Users)+len(p.options.Groups) == 0 {
		return name, nil
	}
	if slices.Contains(p.options.Users, c.text("sub")) {
		return name, nil
	}
	if slices.ContainsFunc(c.list(p.options.GroupsClaim), func(g string) bool {
		return slices.Contains(p.options.Groups, g)
	}) {
		return name, nil
	}
	if by == p.options.UsernameClaim &&
		slices.ContainsFunc(p.options.Users, func(u string) bool { return strings.EqualFold(u, name) }) {
		// Some providers let their users claim any address.
		if verified, stated := c["email_verified"]; by == "email" && stated && verified != true && verified != "true" {
			return "", fmt.Errorf("the provider has not verified the address %s", name)
		}
		return name, nil
	}
	return "",
		fmt.Errorf("the user %s may not log in: neither is the name in auth.%s.users nor a group of theirs in auth.%s.groups", name, p.method.ID(), p.method.ID())
}

// printable returns a text that came from a provider, bounded and without what
// could forge a line of a log.
func printable(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) || visible.Hidden(c) {
			return -1
		}
		return c
	}, text)
	if len(text) > maxName {
		text = strings.ToValidUTF8(text[:maxName], "")
	}
	return text
}
