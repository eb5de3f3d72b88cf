package registries_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// vendor is a type at the addresses of its vendor.
type vendor struct {
	typ     string
	options map[string]any
	// host is that of image references, and api is the host of the API.
	host, api string
	// realm is the token service; a registry without one takes the credentials itself.
	realm string
	// user and pass are the credentials in the vendor's form.
	user, pass string
	// keys are what an error about wrong credentials names.
	keys string
	// wrong changes the options so that they are wrong.
	wrong map[string]any
	// lookalikes are hosts of foreignHosts.
	lookalikes []string
}

func vendors(t *testing.T) []vendor {
	private := privateKey(t)
	account := map[string]any{"login": user, "password": secret}
	wrongPassword := map[string]any{"password": "wr0ng-s3cret"}
	wrongToken := map[string]any{"token": "wr0ng-s3cret"}
	at := func(url string) map[string]any { return map[string]any{"url": url, "login": user, "password": secret} }
	list := []vendor{
		{typ: "acr", options: map[string]any{"clientid": "app-id", "clientsecret": secret}, host: "team.azurecr.io",
			realm: "https://team.azurecr.io/oauth2/token",
			user:  "app-id", keys: "clientid and clientsecret", wrong: map[string]any{"clientsecret": "wr0ng-s3cret"},
			lookalikes: []string{"xazurecr.io", "azurecr.io", "team.azurecr.io.evil.test", "team.azurecrxio"}},
		{typ: "acr", options: map[string]any{"username": user, "password": secret, "hosts": "team.azurecr.io"},
			host: "team.azurecr.io",
			keys: "username and password", wrong: wrongPassword, lookalikes: []string{"other.azurecr.io"}},
		{typ: "alicr", options: account, host: "registry.cn-hangzhou.aliyuncs.com",
			realm: "https://dockerauth.cn-hangzhou.aliyuncs.com/auth",
			keys:  "login and password", wrong: wrongPassword,
			lookalikes: []string{"registry.oss-cn-hangzhou.aliyuncs.com", "bucket.oss-cn-hangzhou.aliyuncs.com",
				"evilcr.aliyuncs.com", "cr.aliyuncs.com"}},
		{
			typ: "alicr", options: account, host: "crpi-a1.cn-hangzhou.personal.cr.aliyuncs.com",
			realm: "https://dockerauth-ee.cn-hangzhou.aliyuncs.com/auth", keys: "login and password", wrong: wrongPassword,
		},
		{
			typ: "artifactory", options: at("https://acme.jfrog.io"), host: "acme.jfrog.io",
			realm: "https://acme.jfrog.io/v2/token", keys: "login and password", wrong: wrongPassword,
			lookalikes: []string{"jfrog.io", "evil.jfrog.io", "xacme.jfrog.io"},
		},
		{
			typ: "codeberg", options: account, host: "codeberg.org", realm: "https://codeberg.org/v2/token",
			keys: "login and password", wrong: wrongPassword, lookalikes: []string{"xcodeberg.org", "git.codeberg.org"},
		},
		{
			typ: "custom", options: at("https://reg.example.com:5000"), host: "reg.example.com:5000",
			keys: "login and password", wrong: wrongPassword,
			lookalikes: []string{"reg.example.com", "reg", "example.com:5000", "reg.example.com:500"},
		},
		{
			typ: "dhi", options: map[string]any{"login": user, "token": secret}, host: "dhi.io",
			realm: "https://dhi.io/token", keys: "login and password", wrong: wrongToken,
			lookalikes: []string{"xdhi.io", "a.dhi.io", "docker.io"},
		},
		{
			typ: "docr", options: map[string]any{"token": secret}, host: "registry.digitalocean.com",
			realm: "https://api.digitalocean.com/v2/registry/auth", user: secret, keys: "token", wrong: wrongToken,
			lookalikes: []string{"digitalocean.com", "x.registry.digitalocean.com"},
		},
		{
			typ: "forgejo", options: at("https://code.forgejo.org"), host: "code.forgejo.org",
			realm: "https://code.forgejo.org/v2/token", keys: "login and password", wrong: wrongPassword,
			lookalikes: []string{"forgejo.org"},
		},
		{
			typ: "gar", options: map[string]any{"token": secret}, host: "europe-docker.pkg.dev",
			realm: "https://europe-docker.pkg.dev/v2/token", user: "oauth2accesstoken", keys: "token",
			wrong: wrongToken, lookalikes: []string{"xpkg.dev", "docker-pkg.dev"},
		},
		{typ: "gcr", options: map[string]any{
			"clientemail": "ann@project.iam.gserviceaccount.com", "privatekey": strings.ReplaceAll(private, "\n", `\n`),
		}, host: "eu.gcr.io", realm: "https://eu.gcr.io/v2/token",
			user: "_json_key", pass: keyJSON(t, private), keys: "clientemail and privatekey",
			wrong:      map[string]any{"clientemail": "bob@project.iam.gserviceaccount.com"},
			lookalikes: []string{"xgcr.io", "eugcr.io", "gcrxio"}},
		{
			typ: "gcr", options: map[string]any{"key": keyJSON(t, private)}, host: "gcr.io",
			realm: "https://gcr.io/v2/token", user: "_json_key", pass: keyJSON(t, private), keys: "key",
			wrong: map[string]any{"key": keyJSON(t, privateKey(t))},
		},
		{
			typ: "ghcr", options: map[string]any{"username": user, "token": secret}, host: "ghcr.io",
			realm: "https://ghcr.io/token", keys: "username and token", wrong: wrongToken,
			lookalikes: []string{"evilghcr.io", "ghcrxio", "ghcr.io.evil.test", "ghcr.io:8443"},
		},
		{
			typ: "gitea", options: at("https://git.example.com:3000"), host: "git.example.com:3000",
			realm: "https://git.example.com:3000/v2/token", keys: "login and password", wrong: wrongPassword,
			lookalikes: []string{"git.example.com", "xgit.example.com:3000"},
		},
		{
			typ: "gitlab", options: map[string]any{"token": secret}, host: "registry.gitlab.com",
			realm: "https://gitlab.com/jwt/auth", user: "-", keys: "token", wrong: wrongToken,
			lookalikes: []string{"gitlab.com", "evilregistry.gitlab.com"},
		},
		{typ: "gitlab", options: map[string]any{
			"username": "gitlab+deploy-token-1", "token": secret, "url": "https://images.example.com",
			"authurl": "https://git.example.org",
		}, host: "images.example.com", realm: "https://git.example.org/jwt/auth",
			user: "gitlab+deploy-token-1", keys: "token", wrong: wrongToken,
			lookalikes: []string{"git.example.org", "example.com"}},
		{typ: "harbor", options: map[string]any{
			"url": "https://harbor.example.com", "login": "robot$team+dogwatch", "password": secret,
		}, host: "harbor.example.com", realm: "https://harbor.example.com/service/token",
			user: "robot$team+dogwatch", keys: "login and password", wrong: wrongPassword,
			lookalikes: []string{"myharbor.example.com"}},
		{
			typ: "hub", options: account, host: "docker.io", api: "registry-1.docker.io",
			realm: "https://auth.docker.io/token", keys: "login and password", wrong: wrongPassword,
			lookalikes: []string{"mydocker.io", "dockerxio", "x.docker.io"},
		},
		{
			typ: "ibmcr", options: map[string]any{"apikey": secret}, host: "de.icr.io",
			realm: "https://de.icr.io/oauth/token", user: "iamapikey", keys: "apikey",
			wrong: map[string]any{"apikey": "wr0ng-s3cret"}, lookalikes: []string{"xicr.io", "de.icr.io.evil.test"},
		},
		{
			typ: "mau", options: map[string]any{"token": secret}, host: "dock.mau.dev",
			realm: "https://mau.dev/jwt/auth", user: "-", keys: "token", wrong: wrongToken,
			lookalikes: []string{"mau.dev", "xdock.mau.dev"},
		},
		{
			typ: "nexus", options: at("https://nexus.example.com:5000"), host: "nexus.example.com:5000",
			keys: "login and password", wrong: wrongPassword, lookalikes: []string{"nexus.example.com:5001"},
		},
		{
			typ: "ocir", options: map[string]any{"login": "tenancy/ann", "password": secret}, host: "fra.ocir.io",
			realm: "https://fra.ocir.io/20180419/docker/token", user: "tenancy/ann", keys: "login and password",
			wrong: wrongPassword, lookalikes: []string{"xocir.io", "fn.us-ashburn-1.functions.oci.oraclecloud.com"},
		},
		{
			typ: "quay", options: map[string]any{"namespace": "team", "account": "bot", "token": secret},
			host: "quay.io", realm: "https://quay.io/v2/auth", user: "team+bot", keys: "namespace, account and token",
			wrong: wrongToken, lookalikes: []string{"evilquay.io", "quayxio"},
		},
	}
	for i := range list {
		v := &list[i]
		switch v.user {
		case "":
			v.user = user
		case "-":
			v.user = ""
		}
		if v.pass == "" {
			v.pass = secret
		}
		if v.api == "" {
			v.api = v.host
		}
	}
	return list
}

// open makes the internet of a vendor with one private repository.
func (v vendor) open(t *testing.T) (*internet, *registrysim.Registry) {
	t.Helper()
	o := registrysim.Options{
		Auth: registrysim.Basic, Users: map[string]string{v.user: v.pass}, Private: func(string) bool { return true },
	}
	if v.realm != "" {
		o.Auth, o.Realm, o.Service = registrysim.Token, v.realm, v.typ
	}
	sim := registrysim.New(o)
	sim.Push("team/app", "1.0.0")
	sites := map[string]http.Handler{v.api: sim}
	if realm, _ := url.Parse(v.realm); v.realm != "" {
		next := sites[realm.Host]
		sites[realm.Host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == realm.Path:
				r.URL.Path = "/token"
				sim.ServeHTTP(w, r)
			case next != nil:
				next.ServeHTTP(w, r)
			default:
				http.NotFound(w, r)
			}
		})
	}
	return newInternet(t, sites), sim
}

// trusted are the hosts that may see the credentials.
func (v vendor) trusted() string {
	if realm, _ := url.Parse(v.realm); v.realm != "" {
		return realm.Host
	}
	return v.api
}

// Each type logs in where and how its vendor says, once for as long as it
// lasts, and sends its credentials nowhere else.
func TestLoginOfEveryType(t *testing.T) {
	// TestGatewaysForwardLogins, TestECR
	covered := map[string]bool{"oci": true, "ecr": true, "lscr": true, "trueforge": true}
	for _, v := range vendors(t) {
		covered[v.typ] = true
		t.Run(v.typ, func(t *testing.T) {
			t.Parallel()
			n, sim := v.open(t)
			r, warnings := newInstance(t, v.typ, n.with(v.options))
			repo := registry.Repository{Host: v.host, Name: "team/app"}
			list := func(what string, want registrysim.Counts) {
				t.Helper()
				sim.ResetCounts()
				if list, err := r.Tags(t.Context(), repo, ""); err != nil || len(list.Tags) != 1 {
					t.Errorf("%s: %+v, %v", what, list, err)
				}
				got := sim.Counts()
				got.MaxInFlight = 0
				if v.realm == "" {
					want.Total -= want.Tokens
					want.Tokens = 0
				}
				if got != want {
					t.Errorf("%s: %+v, want %+v", what, got, want)
				}
			}
			list("first", registrysim.Counts{Total: 3, Tokens: 1, Tags: 2, Refused: 1})
			list("again", registrysim.Counts{Total: 1, Tags: 1})
			if v.realm != "" {
				sim.ExpireTokens()
				list("revoked", registrysim.Counts{Total: 3, Tokens: 1, Tags: 2, Refused: 1})
			}
			if got := strings.Join(n.shown(), " "); got != v.trusted() {
				t.Errorf("the credentials were shown to %q, want %q", got, v.trusted())
			}
			if len(warnings) != 0 {
				t.Errorf("warns %q", warnings)
			}
			foreignHosts(t, v, n, sim, r)
			wrong(t, v, n)
		})
	}
	for _, typ := range registries.Types() {
		if !covered[typ.Name] {
			t.Errorf("no vendor logs in with %s", typ.Name)
		}
	}
}

// foreignHosts: look-alikes get no requests, and other hosts that a registry redirects to get no credentials.
func foreignHosts(t *testing.T, v vendor, n *internet, sim *registrysim.Registry, r registry.Registry) {
	t.Helper()
	for _, host := range v.lookalikes {
		repo := registry.Repository{Host: host, Name: "team/app"}
		if _, err := r.Tags(t.Context(), repo, ""); !errors.Is(err, sdk.ErrNotFound) ||
			!strings.Contains(err.Error(), "does not serve") {
			t.Errorf("%s: %v", host, err)
		}
		if c, err := r.(registry.CredentialProvider).Credentials(t.Context(), repo); err == nil || c != (sdk.Credentials{}) {
			t.Errorf("returns credentials for %s: %v", host, err)
		}
		if all, _ := n.requests(host); all != 0 && !strings.Contains(v.realm, "/"+host+"/") {
			t.Errorf("%s got a request", host)
		}
	}
	if _, err := r.Tags(t.Context(), registry.Repository{Host: strings.ToUpper(v.host), Name: "team/app"},
		""); err != nil {
		t.Errorf("in capitals: %v", err)
	}
	n.add("storage.evil.test", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="come on"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	sim.Inject(registrysim.TagsRequest, 1, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://storage.evil.test/list", http.StatusTemporaryRedirect)
	})
	if _, err := r.Tags(t.Context(), registry.Repository{Host: v.host, Name: "team/app"}, ""); err == nil {
		t.Error("believed a stranger")
	}
	if all, authorized := n.requests("storage.evil.test"); all == 0 || authorized != 0 {
		t.Errorf("the foreign host got %d requests, %d of them with credentials", all, authorized)
	}
}

// wrong: the error about wrong credentials says which instance and options to mend.
func wrong(t *testing.T, v vendor, n *internet) {
	t.Helper()
	options := n.with(v.options)
	for name, value := range v.wrong {
		options[name] = value
	}
	r, _ := newInstance(t, v.typ, options)
	_, err := r.Tags(t.Context(), registry.Repository{Host: v.host, Name: "team/app"}, "")
	if want := "; check " + v.keys + " of registry." + v.typ +
		".main, and whether they may read the repository"; !errors.Is(err, sdk.ErrUnauthorized) ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("wrong credentials: %v, want %q", err, want)
	}
	for _, leak := range []string{"wr0ng", secret, "PRIVATE KEY"} {
		if err != nil && strings.Contains(err.Error(), leak) {
			t.Errorf("leaks %q: %v", leak, err)
		}
	}
}

// Names in front of another registry: requests and credentials go to that one, and to no other.
func TestGatewaysForwardLogins(t *testing.T) {
	for _, typ := range []string{"lscr", "trueforge"} {
		host := map[string]string{"lscr": "lscr.io", "trueforge": "oci.trueforge.org"}[typ]
		for _, backend := range []string{"ghcr.io", "quay.io"} {
			for _, anonymous := range []bool{true, false} {
				sim := registrysim.New(registrysim.Options{
					Auth: registrysim.Token, Realm: "https://" + backend + "/token", Service: backend,
					Scopes: registrysim.EveryTarget, Users: map[string]string{user: secret},
				})
				sim.Push("linuxserver/sonarr", "4.0.0")
				n := newInternet(t,
					map[string]http.Handler{backend: sim, host: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						http.Redirect(w, r, "https://"+backend+r.URL.RequestURI(), http.StatusTemporaryRedirect)
					})})
				options, want := n.with(nil), ""
				if !anonymous {
					options["username"], options["token"] = user, secret
					if backend == "ghcr.io" {
						want = backend
					}
				}
				r, _ := newInstance(t, typ, options)
				list, err := r.Tags(t.Context(), registry.Repository{Host: host, Name: "linuxserver/sonarr"}, "")
				if err != nil || len(list.Tags) != 1 {
					t.Errorf("%s by %s: %+v, %v", typ, backend, list, err)
				}
				if got := strings.Join(n.shown(), " "); got != want {
					t.Errorf("%s by %s: credentials were shown to %q, want %q", typ, backend, got, want)
				}
			}
		}
	}
}

// Several instances of a type are distinguished by their hosts, and what none of
// them serves is left to others.
func TestInstancesAreChosenByHost(t *testing.T) {
	n, sim := vendor{typ: "acr", api: "one.azurecr.io", user: "first", pass: secret}.open(t)
	other := registrysim.New(registrysim.Options{
		Auth: registrysim.Basic, Users: map[string]string{"second": "other-s3cret"},
	})
	other.Push("team/app", "2.0.0")
	n.add("two.azurecr.io", other)
	one, _ := newInstance(t, "acr", n.with(map[string]any{
		"hosts": "ONE.azurecr.io", "clientid": "first", "clientsecret": secret,
	}))
	two, _ := newInstance(t, "acr", n.with(map[string]any{
		"hosts": "two.azurecr.io", "clientid": "second", "clientsecret": "other-s3cret",
	}))
	for host, r := range map[string]registry.Registry{"one.azurecr.io": one, "two.azurecr.io": two} {
		if _, err := r.Tags(t.Context(), registry.Repository{Host: host, Name: "team/app"}, ""); err != nil {
			t.Error(err)
		}
	}
	if _, err := one.Tags(t.Context(), registry.Repository{Host: "two.azurecr.io", Name: "team/app"},
		""); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("the first serves the host of the second: %v", err)
	}
	if sim.Counts().Refused != 1 || other.Counts().Refused != 1 {
		t.Errorf("%+v and %+v", sim.Counts(), other.Counts())
	}
}
