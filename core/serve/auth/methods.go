package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/option"
)

type basicOptions struct {
	User string `option:"user,required" help:"Name of the user; its case counts" example:"ana"`
	Hash string `option:"hash,secret,required" help:"Hash of the password, as dogwatch hash-password or htpasswd prints it: bcrypt, argon2id, apr1, {SHA}, sha-crypt" example:"$2y$10$…"`
}

type oidcOptions struct {
	Discovery     *url.URL      `option:"discovery,required" help:"Address of the provider: its issuer, or its openid-configuration document" example:"https://id.example.org"`
	ClientID      string        `option:"clientid,secret,required" help:"Client id that the provider gave" example:"dogwatch"`
	ClientSecret  string        `option:"clientsecret,secret,required" help:"Its secret" example:"secret"`
	Redirect      bool          `option:"redirect" default:"false" help:"Let the login page go straight to this provider"`
	Timeout       time.Duration `option:"timeout" default:"5s" help:"How long the provider may take for one answer"`
	TTL           int           `option:"ttl" default:"60" min:"-1" help:"Minutes after which the provider's settings are read again; -1 for never"`
	UsernameClaim string        `option:"usernameclaim" default:"email" help:"Claim that names the user"`
	Users         []string      `option:"users" help:"Users that may log in, by that claim or by their sub; all accounts of the provider when neither users nor groups are set"`
	Groups        []string      `option:"groups" help:"Groups whose members may log in"`
	GroupsClaim   string        `option:"groupsclaim" default:"groups" help:"Claim that lists the groups; dots lead into nested claims"`
	Scopes        []string      `option:"scopes" default:"openid,email,profile" help:"What the provider is asked for"`
	MaxAge        time.Duration `option:"maxage" default:"24h" help:"Longest time until the provider is asked again whether the user may still log in, 90 days at most"`
	LogoutReturn  bool          `option:"logoutreturn" default:"false" help:"Let the provider send people back here when they log out; its list of logout addresses needs the redirect address"`

	TLS httpclient.TLS `option:"tls"`
}

// Schema returns the options of a type of the auth section, and whether it has
// any: the anonymous one takes whatever is written.
func Schema(typ string) (option.Schema, bool) {
	var s option.Schema
	var err error
	switch typ {
	case "basic":
		s, err = option.Of[basicOptions]()
	case "oidc":
		s, err = option.Of[oidcOptions]()
	default:
		return nil, false
	}
	if err != nil {
		panic("auth: options of " + typ + ": " + err.Error()) // constant, and tested
	}
	return s, true
}

// Types are the types of the auth section.
func Types() []string { return []string{"basic", "oidc", AnonymousName} }

// addMethod adds the login method of one auth section.
func (a *Auth) addMethod(c config.Component) {
	if c.Type == AnonymousName {
		a.open = true // whatever is written in it, as in WUD
		a.methods = append(a.methods, Method{Type: c.Type, Name: c.Name, Configuration: map[string]any{}})
		return
	}
	schema, known := Schema(c.Type)
	if !known {
		p := config.Problem{
			Key: c.Key(), Message: "unknown way to log in: it lets nobody in",
			Remedy: "the types are basic, oidc and anonymous", Level: config.Error,
		}
		if near := option.Suggest(c.Type, Types()); near != "" {
			p.Remedy = "did you mean auth." + near + "." + c.Name + "?"
		}
		a.refuse(Method{Type: c.Type, Name: c.Name, Configuration: map[string]any{}}, p)
		return
	}
	values, problems := c.Resolve(schema)
	m := Method{Type: c.Type, Name: c.Name, Configuration: schema.Show(values, true)}
	for _, o := range []string{"hash", "clientsecret"} { // a client id is often "dogwatch", and no secret
		if secret, ok := values[o].(string); ok {
			a.opt.Secrets(secret)
		}
	}
	for i, p := range problems {
		if p.Key == c.Key()+".hash" && values["hash"] == nil && p.Remedy == "" {
			problems[i].Remedy = "in a compose file write each $ of a hash twice, or nothing may be left of it"
		}
	}
	if slices.ContainsFunc(problems, func(p config.Problem) bool { return p.Level == config.Error }) {
		a.refuse(m, problems...)
		return
	}
	a.problems = append(a.problems, problems...)
	m.stamp, m.maxAge = stampOf(values), maxSessionTime
	var err error
	var place string
	if c.Type == "basic" {
		place, err = "hash", a.addUser(m, values)
	} else {
		place, err = "discovery", a.addProvider(&m, values)
	}
	var invalid *sdk.InvalidError
	if errors.As(err, &invalid) {
		place, err = invalid.Fields[0].Field, errors.New(invalid.Fields[0].Detail)
	}
	if err != nil {
		a.refuse(m, config.Problem{
			Key: c.Key() + "." + place, Source: c.Options[place].Source, Message: err.Error(), Level: config.Error,
		})
		return
	}
	a.methods = append(a.methods, m)
}

// refuse keeps a method that accepts no login, so that it is listed with its problem.
func (a *Auth) refuse(m Method, problems ...config.Problem) {
	a.problems = append(a.problems, problems...)
	i := slices.IndexFunc(problems, func(p config.Problem) bool { return p.Level == config.Error })
	m.Problem = problems[i].String()
	a.methods = append(a.methods, m)
}

func (a *Auth) addWarning(m Method, key, message, remedy string) {
	a.problems = append(a.problems, config.Problem{
		Key: fmt.Sprintf("auth.%s.%s", m.ID(), key), Message: message, Remedy: remedy, Level: config.Warning,
	})
}

func (a *Auth) addUser(m Method, values option.Values) error {
	text, _ := values["hash"].(string)
	hash, err := parseHash(text)
	if err != nil {
		return err
	}
	if hash.plain() {
		a.addWarning(m, "hash", "is a password in clear", "write its hash instead: dogwatch hash-password prints it")
	}
	user, _ := values["user"].(string)
	a.passwords.users = append(a.passwords.users, account{user: user, hash: hash, method: m})
	return nil
}

func (a *Auth) addProvider(m *Method, values option.Values) error {
	options, err := option.Decode[oidcOptions](values)
	if err != nil {
		return err
	}
	switch options.Discovery.Scheme {
	case "https":
	case "http":
		a.addWarning(*m, "discovery", "is plain http: whoever can read or change what is sent can log in", "use https")
	default:
		return fmt.Errorf("want an address that starts with https://")
	}
	if options.MaxAge < time.Minute {
		return sdk.Invalid("maxage", "want a minute at least, got %s", options.MaxAge)
	}
	m.maxAge = min(options.MaxAge, maxSessionTime)
	security, err := options.TLS.Config()
	if err != nil {
		return err
	}
	if options.TLS.Insecure {
		a.addWarning(*m, "tls.insecure", "certificates are not verified: whoever can change what is sent can log in",
			"set tls.cafile instead")
	}
	a.providers[m.Name] = newProvider(*m, options, security, a.opt.Agent, a.now)
	return nil
}
