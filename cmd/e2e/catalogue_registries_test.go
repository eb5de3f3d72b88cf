package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
)

// marker is in every secret that has room for it, so that one search finds them all.
const marker = "s3cret"

// vendor is a registry type as a user configures it.
type vendor struct {
	typ     string
	options map[string]string
	// host is that of image references, endpoint the one that gets the requests instead, and
	// realm the address of the token service; a registry without one takes the login itself.
	host, endpoint, realm string
	// user and password are the login in the form that is shown; without one, no login is required.
	user, password string
	// via is a host that only redirects to endpoint.
	via bool
	// mistake is a change of the options that is one, and blames the option that is to be mended.
	mistake map[string]string
	blames  string
}

// repo is the repository that a vendor has.
func (v vendor) repo() string { return "team/" + v.typ }

// image is how a container names it.
func (v vendor) image(tag string) string {
	if v.host == "docker.io" {
		return v.repo() + ":" + tag
	}
	return v.host + "/" + v.repo() + ":" + tag
}

// requested is the host that requests go to, shows the one that gets the login.
func (v vendor) requested() string {
	if v.endpoint != "" {
		return v.endpoint
	}
	return v.host
}

func (v vendor) shows() string {
	if u, _ := url.Parse(v.realm); v.realm != "" {
		return u.Host
	}
	return v.requested()
}

const (
	awsHost, awsAPI           = "123456789012.dkr.ecr.eu-west-1.amazonaws.com", "api.ecr.eu-west-1.amazonaws.com"
	awsKey, awsSecret, awsGet = "AKIARECOGNISABLE", "s3cret-aws-key", "s3cret-aws-token"
	googleKey                 = `-----BEGIN PRIVATE KEY-----\nczNjcmV0LWdvb2dsZS1rZXk=\n-----END PRIVATE KEY-----\n`
	googleMail                = "reader@example.iam.gserviceaccount.com"
)

// vendors returns every registry type with a login.
func vendors() []vendor {
	own := func(address, typ string) map[string]string {
		return map[string]string{"url": address, "login": "ana", "password": marker + "-" + typ}
	}
	wrong := func(key, value string) map[string]string { return map[string]string{key: value} }
	google, _ := json.Marshal(map[string]string{ // texts cannot fail
		"type": "service_account", "client_email": googleMail, "private_key": strings.ReplaceAll(googleKey, `\n`, "\n"),
	})
	list := []vendor{
		{typ: "acr", options: map[string]string{"clientid": "app-id", "clientsecret": marker + "-acr"},
			host: "team.azurecr.io", realm: "https://team.azurecr.io/oauth2/token",
			user: "app-id", password: marker + "-acr", mistake: wrong("clientsecret", ""), blames: "clientsecret"},
		{
			typ: "alicr", options: own("", "alicr"), host: "registry.cn-hangzhou.aliyuncs.com",
			realm: "https://dockerauth.cn-hangzhou.aliyuncs.com/auth", mistake: wrong("hosts", "a/b"), blames: "hosts",
		},
		{
			typ: "artifactory", options: own("https://acme.jfrog.io", "artifactory"), host: "acme.jfrog.io",
			realm: "https://acme.jfrog.io/v2/token", mistake: wrong("url", ""), blames: "url",
		},
		{
			typ: "codeberg", options: own("", "codeberg"), host: "codeberg.org", realm: "https://codeberg.org/v2/token",
			mistake: wrong("tls.minversion", "1.9"), blames: "tls.minversion",
		},
		{
			typ: "custom", options: own("https://registry.example.com:5000", "custom"),
			host: "registry.example.com:5000", mistake: wrong("url", "registry.example.com"), blames: "url",
		},
		{
			typ: "dhi", options: own("", "dhi"), host: "dhi.io", realm: "https://dhi.io/token",
			mistake: wrong("login", ""), blames: "login",
		},
		{typ: "docr", options: map[string]string{"token": marker + "-docr"}, host: "registry.digitalocean.com",
			realm: "https://api.digitalocean.com/v2/registry/auth", user: marker + "-docr",
			mistake: wrong("timeout", "soon"), blames: "timeout"},
		{typ: "ecr", options: map[string]string{
			"region": "eu-west-1", "accesskeyid": awsKey, "secretaccesskey": awsSecret,
		}, host: awsHost, user: "AWS", password: awsGet,
			mistake: wrong("accountid", "12"), blames: "accountid"},
		{
			typ: "forgejo", options: own("", "forgejo"), host: "code.forgejo.org",
			realm: "https://code.forgejo.org/v2/token", mistake: wrong("password", ""), blames: "password",
		},
		{typ: "gar", options: map[string]string{"key": string(google)}, host: "europe-docker.pkg.dev",
			realm: "https://europe-docker.pkg.dev/v2/token", user: "_json_key", password: string(google),
			mistake: wrong("key", "{"), blames: "key"},
		{typ: "gcr", options: map[string]string{"clientemail": googleMail, "privatekey": googleKey}, host: "eu.gcr.io",
			realm: "https://eu.gcr.io/v2/token", user: "_json_key", password: string(google),
			mistake: wrong("privatekey", "no key"), blames: "privatekey"},
		{
			typ: "ghcr", options: map[string]string{"username": "ana", "token": marker + "-ghcr"}, host: "ghcr.io",
			realm: "https://ghcr.io/token", mistake: wrong("username", ""), blames: "username",
		},
		{
			typ: "gitea", options: own("https://git.example.com:3000", "gitea"), host: "git.example.com:3000",
			realm: "https://git.example.com:3000/v2/token", mistake: wrong("url", ""), blames: "url",
		},
		{typ: "gitlab", options: map[string]string{"token": marker + "-gitlab"}, host: "registry.gitlab.com",
			realm: "https://gitlab.com/jwt/auth", user: "-",
			mistake: map[string]string{"token": "", "username": "ana"}, blames: "token"},
		{typ: "harbor", options: map[string]string{
			"url": "https://harbor.example.com", "login": "robot$reader", "password": marker + "-harbor",
		}, host: "harbor.example.com",
			realm: "https://harbor.example.com/service/token", user: "robot$reader", mistake: wrong("url", ""), blames: "url"},
		{typ: "hub", options: map[string]string{
			"auth": base64.StdEncoding.EncodeToString([]byte("ana:" + marker + "-hub")),
		}, host: "docker.io", endpoint: "registry-1.docker.io", realm: "https://auth.docker.io/token",
			mistake: wrong("auth", "no base64"), blames: "auth"},
		{
			typ: "ibmcr", options: map[string]string{"apikey": marker + "-ibmcr"}, host: "de.icr.io",
			realm: "https://de.icr.io/oauth/token", user: "iamapikey", mistake: wrong("proxy", "nowhere"), blames: "proxy",
		},
		{
			typ: "lscr", options: map[string]string{"username": "lea", "token": marker + "-lscr"}, host: "lscr.io",
			endpoint: "ghcr.io", via: true, realm: "https://ghcr.io/token", user: "lea", mistake: wrong("token", ""),
			blames: "token",
		},
		{
			typ: "mau", options: map[string]string{"username": "mau", "token": marker + "-mau"}, host: "dock.mau.dev",
			realm: "https://mau.dev/jwt/auth", user: "mau", mistake: wrong("token", ""), blames: "token",
		},
		{
			typ: "nexus", options: own("https://nexus.example.com:8443", "nexus"), host: "nexus.example.com:8443",
			mistake: wrong("url", "ftp://nexus.example.com"), blames: "url",
		},
		{typ: "oci", options: map[string]string{"hosts": "registry.k8s.io"}, host: "registry.k8s.io",
			realm: "https://registry.k8s.io/token", user: "-", password: "-",
			mistake: map[string]string{"hosts": "", "mirror": "https://cache.example.com"}, blames: "mirror"},
		{typ: "ocir", options: map[string]string{"login": "tenancy/ana", "password": marker + "-ocir"},
			host: "fra.ocir.io", realm: "https://fra.ocir.io/20180419/docker/token", user: "tenancy/ana",
			mistake: wrong("tls.cafile", "/nowhere.pem"), blames: "tls.cafile"},
		{typ: "quay", options: map[string]string{"namespace": "team", "account": "reader", "token": marker + "-quay"},
			host: "quay.io", realm: "https://quay.io/v2/auth", user: "team+reader",
			mistake: wrong("namespace", ""), blames: "namespace"},
		{typ: "trueforge", options: map[string]string{"username": "tom", "token": marker + "-trueforge"},
			host: "oci.trueforge.org", endpoint: "ghcr.io", via: true, realm: "https://ghcr.io/token", user: "tom",
			mistake: wrong("username", ""), blames: "username"},
	}
	for i := range list {
		v := &list[i]
		if v.options["url"] == "" {
			delete(v.options, "url")
		}
		switch v.user {
		case "":
			v.user = "ana"
		case "-":
			v.user = ""
		}
		switch v.password {
		case "":
			v.password = marker + "-" + v.typ
		case "-":
			v.password = ""
		}
	}
	return list
}

// registries puts all vendors on the internet, each with a repository that only
// its own login may read, and returns what they are by host.
func (n *internet) registries(all []vendor) map[string]*registrysim.Registry {
	sims, users := map[string]*registrysim.Registry{}, map[string]map[string]string{}
	for _, v := range all {
		host := v.requested()
		sim, known := sims[host]
		if !known {
			users[host] = map[string]string{}
			o := registrysim.Options{Auth: registrysim.Basic, Users: users[host], Realm: v.realm, Service: v.typ, ETags: true}
			if v.realm != "" {
				o.Auth = registrysim.Token
			}
			if v.user+v.password != "" {
				o.Private = func(string) bool { return true }
			}
			sim = registrysim.New(o)
			sims[host] = sim
			n.registry(host, v.realm, sim)
		}
		users[host][v.user] = v.password
		sim.Push(v.repo(), "1.0.0")
		if v.via {
			n.gateway(v.host, host)
		}
	}
	n.site(awsAPI).HandleFunc("/", authorize("eu-west-1", func() string { return awsGet }))
	return sims
}

// registry puts a registry on the internet, with its token service at realm unless that is "".
func (n *internet) registry(host, realm string, sim *registrysim.Registry) {
	n.site(host).Handle("/v2/", sim)
	if u, _ := url.Parse(realm); realm != "" {
		n.site(u.Host).HandleFunc(u.Path, func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = "/token"
			sim.ServeHTTP(w, r)
		})
	}
}

// gateway redirects the requests to a host to another.
func (n *internet) gateway(host, to string) {
	n.site(host).HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+to+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	})
}

// logins are what the hosts of vendors must have been shown, and no other host.
func logins(all []vendor) map[string][]string {
	want := map[string][]string{}
	for _, v := range all {
		if v.user+v.password == "" {
			continue
		}
		want[v.shows()] = append(want[v.shows()], v.user+":"+v.password)
		slices.Sort(want[v.shows()])
	}
	return want
}

// authorize is GetAuthorizationToken of ECR in a region. It gives a token to a client that has
// signed with the secret of the key
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
func authorize(region string, token func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if why := unsigned(r, region); why != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"__type":"InvalidSignatureException","message":%q}`, why)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		given := base64.StdEncoding.EncodeToString([]byte("AWS:" + token()))
		fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d,"proxyEndpoint":"https://%s"}]}`,
			given, time.Now().Add(12*time.Hour).Unix(), awsHost)
	}
}

// unsigned says what a request to ECR in a region lacks of the signature of the key; "" for nothing.
func unsigned(r *http.Request, region string) string {
	body, err := io.ReadAll(r.Body)
	rest, signed := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	fields := map[string]string{}
	for _, part := range strings.Split(rest, ", ") {
		key, value, _ := strings.Cut(part, "=")
		fields[key] = value
	}
	scope, ours := strings.CutPrefix(fields["Credential"], awsKey+"/")
	if err != nil || !signed || !ours || !strings.HasSuffix(scope, "/"+region+"/ecr/aws4_request") ||
		!strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetAuthorizationToken") {
		return "not signed for this"
	}
	var headers strings.Builder
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	request := strings.Join([]string{r.Method, r.URL.Path, "", headers.String(), fields["SignedHeaders"],
		hash(string(body))}, "\n")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hash(request)}, "\n")
	key := []byte("AWS4" + awsSecret)
	for _, part := range append(strings.Split(scope, "/"), text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if hex.EncodeToString(key) != fields["Signature"] {
		return "another secret"
	}
	return ""
}

// with returns options and more of them.
func with(options, more map[string]string) map[string]string {
	all := maps.Clone(options)
	maps.Copy(all, more)
	return all
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// same compares two values by what they look like.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := show(got), show(want); g != w {
		t.Errorf("%s:\n%s\nwant\n%s", what, g, w)
	}
}
