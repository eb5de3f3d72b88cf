package verify

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// configuration are the options with which a type is tried.
type configuration struct {
	values option.Values
	// secrets are those among them.
	secrets []string
	// sampled is true when a value that means something to the type was not set by the user.
	sampled bool
}

// configuration returns options of a type whose addresses are that of a server here.
func (e *exam) configuration(t kind.Type, server string) (configuration, error) {
	c, raw := configuration{}, map[string]any{}
	for _, o := range t.Options {
		if text, set := e.opt.Set[o.Name]; set {
			raw[o.Name] = text
			if o.Secret {
				c.secrets = append(c.secrets, text)
			}
			continue
		}
		text := e.sampleValue(o, server)
		if text == "" {
			continue
		}
		if o.Secret {
			c.secrets = append(c.secrets, text)
		}
		raw[o.Name] = text
		// An address of a server here is as good as any; what else is needed may mean something.
		c.sampled = c.sampled || !o.Secret && !isAddress(o) && len(o.Choices) == 0 && !strings.HasPrefix(text, e.dir)
	}
	values, problems, _ := t.Options.Resolve(raw)
	for _, p := range problems {
		return c, fmt.Errorf("option %s: %s", p.Field, p.Detail)
	}
	c.values = values
	return c, nil
}

// pathName is what options are called that name a file or a folder.
var pathName = lazyregexp.New(`(^|\.)(path|file|folder|dir)$`)

// isAddress reports whether an option is where a service is.
func isAddress(o option.Option) bool {
	return o.Type == option.URL || strings.HasPrefix(o.Example, "http://") || strings.HasPrefix(o.Example, "https://")
}

// sampleValue returns a value that nothing outside this machine is reached with; "" for the default.
func (e *exam) sampleValue(o option.Option, server string) string {
	has := o.Required || o.Example != ""
	switch {
	case o.Secret && isAddress(o):
		return server + "/" + canary()
	case isAddress(o) && (has || o.Default != nil):
		return server + pathOf(o.Example)
	case o.Secret:
		return canary()
	case !has || o.Default != nil:
		return ""
	case len(o.Choices) > 0:
		return o.Choices[0]
	case strings.HasPrefix(o.Example, "/") ||
		o.Example == "" && pathName().MatchString(o.Name): // nothing of this machine is read or written
		return filepath.Join(e.dir, "verify-"+filepath.Base(cmp.Or(o.Example, o.Name)))
	case o.Example != "":
		return o.Example
	}
	switch o.Type {
	case option.Int, option.Float:
		if o.Min != nil {
			return fmt.Sprint(*o.Min)
		}
		return "1"
	case option.Bool:
		return "true"
	case option.Duration:
		return "1s"
	}
	return "verify"
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}

// canary is a secret that is found again wherever it is written.
func canary() string { return "canary" + strings.ToLower(rand.Text()[:16]) }
