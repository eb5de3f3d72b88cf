package registries_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/registry"
	"github.com/dogwatch/dogwatch/sdk/registrytest"
)

// typeOf returns a type that shares nothing with those of other calls.
func typeOf(t testing.TB, name string) registry.Type {
	t.Helper()
	types := registries.Types()
	i := slices.IndexFunc(types, func(typ registry.Type) bool { return typ.Name == name })
	if i < 0 {
		t.Fatalf("there is no type %q", name)
	}
	return types[i]
}

func start(t testing.TB, sim *registrysim.Registry) *registrysim.Server {
	t.Helper()
	server, err := sim.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

const (
	user   = "ann"
	secret = "recognisable-s3cret"
	// auth is base64 of both.
	auth = "YW5uOnJlY29nbmlzYWJsZS1zM2NyZXQ="
)

// address returns the option by which instances of a type are led to a server on this machine.
func address(typ registry.Type) string {
	if o, has := typ.Options.Find("mirror"); has && !slices.Contains(o.Aliases, "url") {
		return "url" // the type has an address of its own
	}
	return "mirror"
}

func TestConformance(t *testing.T) {
	without := func(names ...string) []registrytest.Invalid {
		var list []registrytest.Invalid
		for _, name := range names {
			list = append(list, registrytest.Invalid{Field: name, Set: map[string]any{name: nil}})
		}
		return list
	}
	login := map[string]any{"login": user, "password": secret}
	badAuth := registrytest.Invalid{
		Field: "auth", Set: map[string]any{"login": nil, "password": nil, "auth": "not-base64-s3cret"},
	}
	accounts := append(without("login", "password"), badAuth, registrytest.Invalid{
		Field: "auth", Set: map[string]any{"auth": auth},
	})
	private := privateKey(t)
	tests := []struct {
		typ     string
		host    string // of image references; the server's own when empty
		user    string // as the registry sees it; ann when empty
		pass    string // and the password; the secret when empty
		options map[string]any
		invalid []registrytest.Invalid
	}{
		{typ: "acr", host: "team.azurecr.io", options: map[string]any{"clientid": user, "clientsecret": secret},
			invalid: append(without("clientid", "clientsecret"),
				registrytest.Invalid{Field: "username", Set: map[string]any{"username": "bob", "password": secret}})},
		{
			typ: "acr", host: "team.azurecr.cn", options: map[string]any{"username": user, "password": secret},
			invalid: without("username", "password"),
		},
		{typ: "alicr", host: "registry.cn-hangzhou.aliyuncs.com", options: login, invalid: accounts},
		{typ: "artifactory", options: map[string]any{"login": user, "token": secret}, invalid: without("login", "token")[:1]},
		{typ: "codeberg", options: login, invalid: accounts},
		{typ: "custom", options: login, invalid: accounts},
		{typ: "custom", options: map[string]any{"auth": auth}},
		{typ: "dhi", host: "dhi.io", options: login, invalid: accounts},
		{typ: "docr", host: "registry.digitalocean.com", user: secret, options: map[string]any{"token": secret},
			invalid: []registrytest.Invalid{
				{Field: "token", Set: map[string]any{"token": nil, "login": user}},
				{Field: "auth", Set: map[string]any{"auth": auth}}}},
		{typ: "docr", host: "registry.digitalocean.com", options: login},
		{typ: "forgejo", options: map[string]any{"auth": auth}},
		{typ: "gar", host: "europe-docker.pkg.dev", user: "oauth2accesstoken", options: map[string]any{"token": secret},
			invalid: []registrytest.Invalid{
				{Field: "key", Set: map[string]any{"key": "{}"}}}},
		{typ: "gcr", host: "eu.gcr.io", user: "_json_key", pass: keyJSON(t, private), options: map[string]any{
			"clientemail": "ann@project.iam.gserviceaccount.com", "privatekey": strings.ReplaceAll(private, "\n", `\n`),
		}, invalid: append(without("clientemail", "privatekey"),
			registrytest.Invalid{Field: "privatekey", Set: map[string]any{"privatekey": "no-key-s3cret"}},
			registrytest.Invalid{
				Field: "key", Set: map[string]any{"clientemail": nil, "privatekey": nil, "key": "no-json-s3cret"},
			},
			registrytest.Invalid{
				Field: "key", Set: map[string]any{"clientemail": nil, "privatekey": nil, "key": `{"type":"authorized_user"}`},
			},
			registrytest.Invalid{
				Field: "key",
				Set: map[string]any{
					"clientemail": nil, "privatekey": nil, "key": `{"client_email":"a","private_key":"no-key-s3cret"}`,
				},
			})},
		{
			typ: "gcr", host: "gcr.io", user: "_json_key", pass: keyJSON(t, private),
			options: map[string]any{"key": keyJSON(t, strings.ReplaceAll(private, "\n", `\n`))},
		},
		{
			typ: "ghcr", host: "ghcr.io", options: map[string]any{"username": user, "token": secret},
			invalid: without("token", "username"),
		},
		{typ: "gitea", options: login, invalid: append(accounts[:2:2], badAuth)},
		{typ: "gitlab", options: map[string]any{"username": user, "token": secret}, invalid: without("token")},
		{
			typ: "harbor", user: "robot$ann", options: map[string]any{"login": "robot$ann", "password": secret},
			invalid: accounts,
		},
		{typ: "hub", host: "docker.io", options: login, invalid: accounts},
		{typ: "hub", host: "index.docker.io", options: map[string]any{"login": user, "token": secret}},
		{
			typ: "hub", host: "docker.io",
			options: map[string]any{"auth": auth, "watchdigest": "true", "suppressdigestwatchwarning": true},
		},
		{typ: "ibmcr", host: "de.icr.io", user: "iamapikey", options: map[string]any{"apikey": secret}},
		{
			typ: "lscr", host: "lscr.io", options: map[string]any{"username": user, "token": secret},
			invalid: without("token", "username"),
		},
		{typ: "mau", user: "", options: map[string]any{"username": user, "token": secret}, invalid: without("token")},
		{typ: "nexus", options: login, invalid: accounts},
		{
			typ: "oci", options: map[string]any{},
			invalid: []registrytest.Invalid{{Field: "mirror", Set: map[string]any{"mirror": "https://cache.test"}}},
		},
		{
			typ: "ocir", host: "fra.ocir.io", user: "tenancy/ann",
			options: map[string]any{"login": "tenancy/ann", "password": secret}, invalid: accounts,
		},
		{
			typ: "quay", host: "quay.io", user: "team+ann",
			options: map[string]any{"namespace": "team", "account": user, "token": secret},
			invalid: without("token", "account", "namespace"),
		},
		{
			typ: "trueforge", host: "oci.trueforge.org", options: map[string]any{"username": user, "token": secret},
			invalid: without("token", "username"),
		},
	}
	tested := map[string]bool{"ecr": true} // see TestECRConformance
	for _, test := range tests {
		typ := typeOf(t, test.typ)
		first := !tested[test.typ]
		tested[test.typ] = true
		t.Run(test.typ, func(t *testing.T) {
			t.Parallel()
			service := func(url string) registrytest.Service {
				options := maps.Clone(test.options)
				if test.typ != "oci" {
					options[address(typ)] = url
				}
				return registrytest.Service{
					Options: options,
					Repository: registry.Repository{
						Host: cmp.Or(test.host, strings.TrimPrefix(url, "http://")), Name: "library/nginx",
						ScopeHints: []string{"library/nginx", "library/redis"},
					},
					Tag: "1.25.3",
				}
			}
			invalid := test.invalid
			if first {
				invalid = slices.Concat(invalid, wrongly(typ))
			}
			registrytest.Run(t, typ, registrytest.Case{
				Working: func(t *testing.T) registrytest.Service {
					sim := registrysim.New(registrysim.Options{
						Auth: registrysim.Token, ETags: true,
						Users:   map[string]string{cmp.Or(test.user, user): cmp.Or(test.pass, secret)},
						Private: func(string) bool { return test.typ != "oci" },
					})
					sim.Push("library/nginx", "1.25.3", "1.25.4")
					s := service(start(t, sim).URL)
					image, _ := sim.Image("library/nginx", s.Tag)
					s.Digest = image.Digest
					return s
				},
				Hanging: func(t *testing.T, reached func()) registrytest.Service {
					return service(plugintest.Hanging(t, reached))
				},
				Failing: registrytest.HTTPFailures(service),
				Invalid: invalid,
			})
		})
	}
	for _, typ := range registries.Types() {
		if !tested[typ.Name] {
			t.Errorf("%s does not go through the conformance kit", typ.Name)
		}
	}
}

// wrongly are mistakes that every type rejects.
func wrongly(typ registry.Type) []registrytest.Invalid {
	list := []registrytest.Invalid{
		{Field: "proxy", Set: map[string]any{"proxy": "gopher://proxy.test"}},
		{Field: "tls.cafile", Set: map[string]any{"tls.cafile": "nowhere.pem"}},
		{Field: "tls.minversion", Set: map[string]any{"tls.minversion": "0.9"}},
	}
	for _, name := range []string{"url", "mirror"} {
		if o, has := typ.Options.Find(name); has && o.Name == name {
			for _, address := range []string{"ftp://registry.test", "https://ann:pass@registry.test",
				"https://registry.test?a=b", "https://registry.test/team/app:1.0"} {
				set := map[string]any{name: address}
				if _, has := typ.Options.Find("hosts"); has {
					set["hosts"] = "registry.test"
				}
				list = append(list, registrytest.Invalid{Field: name, Set: set})
			}
		}
	}
	if _, has := typ.Options.Find("hosts"); has {
		for _, host := range []string{"https://registry.test", "registry.test/team", "*", "*.*.test", "reg*.test",
			"a b", ".test"} {
			list = append(list, registrytest.Invalid{Field: "hosts", Set: map[string]any{"hosts": host}})
		}
	}
	return list
}

// privateKey makes a key as Google gives it to service accounts.
func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// keyJSON is the key file of a service account.
func keyJSON(t *testing.T, private string) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "ann@project.iam.gserviceaccount.com", "private_key": private,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
