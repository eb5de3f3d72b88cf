package registries

import (
	"cmp"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

// anonymous is for types without credentials.
type anonymous struct{}

func (anonymous) login() (oci.Login, error) { return nil, nil }
func (anonymous) secrets() []string         { return nil }
func (anonymous) keys() string              { return "" }

// account is a user with a password.
type account struct {
	Login    string `option:"login" help:"User name" example:"ana"`
	Password string `option:"password,secret,alias=token" help:"Password or access token" example:"secret"`
	Auth     string `option:"auth,secret" help:"Base64 of user:password, as docker login stores it, instead of login and password"`
}

func (a account) login() (oci.Login, error) {
	return oci.PairOrAuth("login", a.Login, "password", a.Password, a.Auth)
}
func (a account) secrets() []string { return []string{a.Auth} }
func (account) keys() string        { return "login and password" }

// hubAccount is an account of Docker Hub, with all the options of What's Up Docker.
type hubAccount struct {
	Login    string `option:"login" help:"User name" example:"ana"`
	Password string `option:"password,secret" help:"Password, or better an access token that may only read" example:"secret"`
	Token    string `option:"token,secret" help:"Access token" deprecated:"use password, which accepts access tokens"`
	Auth     string `option:"auth,secret,mask=none" help:"Base64 of user:password, as docker login stores it, instead of login and password"`

	WatchDigest bool `option:"watchdigest" help:"Accepted for configurations of What's Up Docker; has no effect" deprecated:"digests are watched wherever the tag is not a version, and by label elsewhere"`
	NoWarning   bool `option:"suppressdigestwatchwarning" help:"Accepted for configurations of What's Up Docker; has no effect" deprecated:"there is no such warning"`
}

func (h hubAccount) login() (oci.Login, error) {
	return oci.PairOrAuth("login", h.Login, "password", cmp.Or(h.Token, h.Password), h.Auth)
}
func (h hubAccount) secrets() []string { return []string{h.Password, h.Auth} }
func (hubAccount) keys() string        { return "login and password" }

// githubUser is a user with a token of GitHub.
type githubUser struct {
	Username string `option:"username" help:"GitHub user name" example:"ana"`
	Token    string `option:"token,secret" help:"Personal access token (classic) with read:packages" example:"secret"`
}

func (g githubUser) login() (oci.Login, error) {
	return oci.Pair("username", g.Username, "token", g.Token)
}
func (githubUser) secrets() []string { return nil }
func (githubUser) keys() string      { return "username and token" }

// gitlabToken is a token of GitLab. The token itself names its user, except for
// those that belong to none.
type gitlabToken struct {
	Username string `option:"username" help:"User that goes with the token: that of a deploy token, or gitlab-ci-token for a job token; personal, project and group access tokens need none"`
	Token    string `option:"token,secret" help:"Personal, project or group access token or deploy token with read_registry" example:"secret"`
}

func (g gitlabToken) login() (oci.Login, error) {
	if g.Token == "" && g.Username != "" {
		return nil, sdk.Invalid("token", "is required with username")
	}
	return oci.Static(g.Username, g.Token), nil
}
func (gitlabToken) secrets() []string { return nil }
func (gitlabToken) keys() string      { return "token" }

// robot is a robot account of Quay, whose full name is namespace+account.
type robot struct {
	Namespace string `option:"namespace" help:"User or organization that owns the robot account" example:"example"`
	Account   string `option:"account" help:"Name of the robot account, without its namespace" example:"reader"`
	Token     string `option:"token,secret" help:"Token of the robot account" example:"secret"`
}

func (r robot) login() (oci.Login, error) {
	if r == (robot{}) {
		return nil, nil
	}
	var missing []sdk.FieldError
	for _, option := range []struct{ name, value string }{{"namespace", r.Namespace}, {"account", r.Account},
		{"token", r.Token}} {
		if option.value == "" {
			missing = append(missing, sdk.FieldError{
				Field: option.name, Detail: "is required: a robot account has a namespace, an account and a token",
			})
		}
	}
	if missing != nil {
		return nil, &sdk.InvalidError{Fields: missing}
	}
	return oci.Static(r.Namespace+"+"+r.Account, r.Token), nil
}
func (robot) secrets() []string { return nil }
func (robot) keys() string      { return "namespace, account and token" }

// azure is a service principal, or another account with a name and a password.
type azure struct {
	ClientID     string `option:"clientid" help:"Application (client) id of a service principal that may pull" example:"00000000-0000-0000-0000-000000000000"`
	ClientSecret string `option:"clientsecret,secret" help:"Client secret of the service principal" example:"secret"`
	Username     string `option:"username" help:"Name of a token of the registry, or of its admin user, instead of a service principal"`
	Password     string `option:"password,secret" help:"Password of username"`
}

func (a azure) login() (oci.Login, error) {
	if a.Username == "" && a.Password == "" {
		return oci.Pair("clientid", a.ClientID, "clientsecret", a.ClientSecret)
	}
	if a.ClientID != "" || a.ClientSecret != "" {
		return nil, sdk.Invalid("username", "cannot be combined with clientid and clientsecret; keep one of them")
	}
	return oci.Pair("username", a.Username, "password", a.Password)
}
func (azure) secrets() []string { return nil }
func (a azure) keys() string {
	if a.Username != "" {
		return "username and password"
	}
	return "clientid and clientsecret"
}

// apiKey is a key of IBM Cloud, which is sent as the password of a fixed user.
type apiKey struct {
	APIKey   string `option:"apikey,secret" help:"IAM API key of a user or service that may read the images" example:"secret"`
	Username string `option:"username" default:"iamapikey" help:"User that goes with the key: cp for an entitlement key of cp.icr.io"`
}

func (a apiKey) login() (oci.Login, error) {
	if a.APIKey == "" {
		return nil, nil
	}
	return oci.Static(a.Username, a.APIKey), nil
}
func (apiKey) secrets() []string { return nil }
func (apiKey) keys() string      { return "apikey" }

// soleToken is a token that is its own user name, as DigitalOcean accepts them.
type soleToken struct {
	Token string `option:"token,secret,alias=password" help:"API token that may read the registry" example:"secret"`
	Login string `option:"login" help:"User name, which the registry does not look at; the token itself when empty"`
	Auth  string `option:"auth,secret" help:"Base64 of user:token, as docker login stores it, instead of login and token"`
}

func (s soleToken) login() (oci.Login, error) {
	if s.Auth == "" && s.Token == "" && s.Login == "" {
		return nil, nil
	}
	return oci.PairOrAuth("login", cmp.Or(s.Login, s.Token), "token", s.Token, s.Auth)
}
func (s soleToken) secrets() []string { return []string{s.Auth} }
func (soleToken) keys() string        { return "token" }
