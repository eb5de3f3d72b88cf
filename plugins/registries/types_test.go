package registries_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// newInstance makes an instance called main, and returns what it warned of.
func newInstance(t testing.TB, typ string, options map[string]any) (registry.Registry, []string) {
	t.Helper()
	var warnings []string
	env := sdk.Env{
		Instance: "registry." + typ + ".main", Name: "main", Warn: func(m string) { warnings = append(warnings, m) },
	}
	r, err := typeOf(t, typ).New(env, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	return r, warnings
}

func TestTypes(t *testing.T) {
	want := map[string]string{
		"acr": "", "alicr": "", "artifactory": "", "codeberg": "public", "custom": "", "dhi": "", "docr": "", "ecr": "public",
		"forgejo": "public", "gar": "", "gcr": "public", "ghcr": "public", "gitea": "", "gitlab": "", "harbor": "",
		"hub":   "public",
		"ibmcr": "", "lscr": "", "mau": "", "nexus": "", "oci": "public", "ocir": "", "quay": "public", "trueforge": "",
	}
	types := registries.Types()
	if len(types) != len(want) {
		t.Errorf("%d types, want %d", len(types), len(want))
	}
	for i, typ := range types {
		instance, known := want[typ.Name]
		if !known || typ.DefaultName != instance {
			t.Errorf("%s exists as %q, want %q", typ.Name, typ.DefaultName, instance)
		}
		if !slices.Contains(typ.Capabilities, kind.CapCredentials) {
			t.Errorf("%s has the capabilities %q", typ.Name, typ.Capabilities)
		}
		if typ.Name != "ecr" && (typ.Summary == "" || !strings.HasPrefix(typ.DocsURL, "https://")) {
			t.Errorf("%s is documented as %q at %q", typ.Name, typ.Summary, typ.DocsURL)
		}
		if i > 0 && types[i-1].Name >= typ.Name {
			t.Errorf("%s comes after %s", typ.Name, types[i-1].Name)
		}
	}
}

// The options that What's Up Docker has, and those that every type has.
func TestOptions(t *testing.T) {
	want := map[string]string{
		"acr": "clientid clientsecret", "codeberg": "url login password auth", "custom": "url login password auth",
		"forgejo": "url login password auth",
		"gcr":     "clientemail privatekey", "ghcr": "username token", "gitea": "url login password auth",
		"gitlab": "url authurl username token",
		"hub":    "login password token auth watchdigest suppressdigestwatchwarning", "lscr": "username token",
		"quay": "namespace account token", "trueforge": "username token",
	}
	defaults := map[string]string{
		"codeberg": "https://codeberg.org", "forgejo": "https://code.forgejo.org",
		"gitlab": "https://registry.gitlab.com", "mau": "https://dock.mau.dev",
		"custom": "required", "gitea": "required", "harbor": "required", "nexus": "required", "artifactory": "required",
	}
	for _, typ := range registries.Types() {
		for _, name := range strings.Fields(want[typ.Name] + " mirror proxy timeout tls.cafile tls.insecure tls.minversion") {
			if _, has := typ.Options.Find(name); !has {
				t.Errorf("%s has no option %s", typ.Name, name)
			}
		}
		url, _ := typ.Options.Find("url")
		got := ""
		switch {
		case url.Name != "url":
		case url.Required:
			got = "required"
		case url.Default != nil:
			got = *url.Default
		}
		if got != defaults[typ.Name] {
			t.Errorf("the url of %s is %q, want %q", typ.Name, got, defaults[typ.Name])
		}
	}
}

func TestHosts(t *testing.T) {
	hub := []string{"docker.io", "index.docker.io", "registry-1.docker.io"}
	at := func(url string, patterns ...string) []registry.Host {
		var all []registry.Host
		for _, p := range patterns {
			all = append(all, registry.Host{Pattern: p, URL: url})
		}
		return all
	}
	keys := func(more map[string]any) map[string]any {
		o := map[string]any{"region": "eu-west-1", "accesskeyid": "AKIAEXAMPLE", "secretaccesskey": "s3cret-s3cret"}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	ecrIn := func(account, region string) []string {
		return []string{
			account + ".dkr.ecr." + region + ".amazonaws.com", account + ".dkr.ecr-fips." + region + ".amazonaws.com",
			account + ".dkr-ecr." + region + ".on.aws", account + ".dkr-ecr-fips." + region + ".on.aws",
		}
	}
	allECR := append(ecrIn("*", "*"), "*.dkr.ecr.*.amazonaws.com.cn", "*.dkr.ecr.*.amazonaws.eu")
	tests := []struct {
		typ     string
		options map[string]any
		want    []registry.Host
	}{
		{"acr", nil, at("", "*.azurecr.io", "*.azurecr.cn", "*.azurecr.us")},
		{"acr", map[string]any{"hosts": "Team.azurecr.io, other-a1b2.azurecr.io"},
			at("", "team.azurecr.io", "other-a1b2.azurecr.io")},
		{"codeberg", nil, at("https://codeberg.org/v2", "codeberg.org", "codeberg.org:443")},
		{"custom", map[string]any{"url": "https://Reg.example.com"},
			at("https://Reg.example.com/v2", "reg.example.com", "reg.example.com:443")},
		{"custom", map[string]any{"url": "http://reg.lan:80/v2/"}, at("http://reg.lan:80/v2", "reg.lan:80", "reg.lan")},
		{"custom", map[string]any{"url": "https://[2001:db8::1]:5000/docker/"},
			at("https://[2001:db8::1]:5000/docker/v2", "[2001:db8::1]:5000")},
		{"custom", map[string]any{"url": "https://reg.lan:5000", "mirror": "http://cache.lan:5000"},
			at("http://cache.lan:5000/v2", "reg.lan:5000")},
		{"dhi", nil, at("", "dhi.io")},
		{"docr", nil, at("", "registry.digitalocean.com")},
		{"ecr", nil, at("", "public.ecr.aws")},
		{"ecr", keys(nil), at("", slices.Concat(ecrIn("*", "eu-west-1"), allECR)...)},
		{"ecr", keys(map[string]any{"mirror": "https://cache.lan"}),
			slices.Concat(at("https://cache.lan/v2", ecrIn("*", "eu-west-1")...), at("", allECR...))},
		{"ecr", keys(map[string]any{"region": "cn-north-1", "accountid": "123456789012", "public": true}),
			at("", slices.Concat([]string{
				"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn", "public.ecr.aws",
				"123456789012.dkr.ecr.*.amazonaws.com.cn", "*.dkr.ecr.cn-north-1.amazonaws.com.cn",
			}, allECR)...)},
		{"ecr", keys(map[string]any{"region": "eusc-de-east-1"}),
			at("", slices.Concat([]string{"*.dkr.ecr.eusc-de-east-1.amazonaws.eu"}, allECR)...)},
		{"forgejo", nil, at("https://code.forgejo.org/v2", "code.forgejo.org", "code.forgejo.org:443")},
		{"gar", nil, at("", "*.pkg.dev")},
		{"gcr", nil, at("", "gcr.io", "*.gcr.io")},
		{"ghcr", nil, at("", "ghcr.io", "*.ghcr.io")},
		{"ghcr", map[string]any{"hosts": "containers.ghe.example.com:8443"}, at("", "containers.ghe.example.com:8443")},
		{"gitlab", nil, at("https://registry.gitlab.com/v2", "registry.gitlab.com", "registry.gitlab.com:443")},
		{"gitlab", map[string]any{"url": "http://git.lan:5050"}, at("http://git.lan:5050/v2", "git.lan:5050")},
		{"hub", nil, at("https://registry-1.docker.io/v2", hub...)},
		{"hub", map[string]any{"mirror": "https://harbor.lan/v2/hub-proxy/"}, at("https://harbor.lan/v2/hub-proxy", hub...)},
		{"hub", map[string]any{"url": "http://cache.lan:5000/"}, at("http://cache.lan:5000/v2", hub...)},
		{"ibmcr", nil, at("", "icr.io", "*.icr.io")},
		{"lscr", nil, at("", "lscr.io")},
		{"mau", nil, at("https://dock.mau.dev/v2", "dock.mau.dev", "dock.mau.dev:443")},
		{"oci", nil, at("", "*")},
		{"oci", map[string]any{"hosts": []any{"registry.k8s.io"}, "mirror": "https://cache.lan"},
			at("https://cache.lan/v2", "registry.k8s.io")},
		{"ocir", nil, at("", "ocir.io", "*.ocir.io")},
		{"quay", nil, at("", "quay.io", "*.quay.io")},
		{"trueforge", nil, at("", "oci.trueforge.org")},
	}
	for _, test := range tests {
		r, _ := newInstance(t, test.typ, test.options)
		got, _ := json.Marshal(r.Hosts())
		want, _ := json.Marshal(test.want)
		if string(got) != string(want) {
			t.Errorf("%s %v serves %s\nwant %s", test.typ, test.options, got, want)
		}
	}
	var alibaba []string
	r, _ := newInstance(t, "alicr", nil)
	for _, h := range r.Hosts() {
		alibaba = append(alibaba, h.Pattern)
	}
	for _, host := range []string{"*.cr.aliyuncs.com", "registry.cn-hangzhou.aliyuncs.com",
		"registry-vpc.cn-shanghai.aliyuncs.com", "registry-intl.ap-southeast-1.aliyuncs.com"} {
		if !slices.Contains(alibaba, host) {
			t.Errorf("alicr does not serve %s", host)
		}
	}
}

// What the HTTP interface shows of each type's secrets.
func TestSecretsAreMasked(t *testing.T) {
	tests := []struct {
		typ     string
		options map[string]any
		want    map[string]string
	}{
		{"ecr", map[string]any{"region": "eu-west-1", "accesskeyid": "AKIAXYZ", "secretaccesskey": "wJalr"},
			map[string]string{"region": "eu-west-1", "accesskeyid": "A******", "secretaccesskey": "w****"}},
		{"hub", map[string]any{"auth": "YW5uOnM="}, map[string]string{"auth": "YW5uOnM="}},
		{"hub", map[string]any{"login": "ann", "password": "secret", "token": "token"}, map[string]string{
			"login": "ann", "password": "s*****", "token": "t****",
		}},
		{"ghcr", map[string]any{"username": "ann", "token": "ghp_x"}, map[string]string{"username": "ann", "token": "g****"}},
		{"quay", map[string]any{"namespace": "team", "account": "bot", "token": "ABC"}, map[string]string{
			"namespace": "team", "account": "bot", "token": "A**",
		}},
		{"acr", map[string]any{"clientid": "app", "clientsecret": "secret", "username": "ann"}, map[string]string{
			"clientid": "app", "clientsecret": "s*****", "username": "ann",
		}},
		{"gcr", map[string]any{"clientemail": "a@b", "privatekey": "-----", "key": "{}", "token": "ya29"}, map[string]string{
			"clientemail": "a@b", "privatekey": "-****", "key": "{*", "token": "y***",
		}},
		{"gitlab", map[string]any{"username": "ann", "token": "glpat"}, map[string]string{
			"username": "ann", "token": "g****", "url": "https://registry.gitlab.com",
		}},
		{"gitea", map[string]any{"url": "https://r.test", "login": "ann", "password": "secret"}, map[string]string{
			"login": "ann", "password": "s*****",
		}},
		{"docr", map[string]any{"token": "dop_v1"}, map[string]string{"token": "d*****"}},
		{"ibmcr", map[string]any{"apikey": "secret"}, map[string]string{"apikey": "s*****", "username": "iamapikey"}},
		{"custom", map[string]any{"url": "https://r.test", "login": "ann", "password": "secret", "auth": "YW5u"},
			map[string]string{"url": "https://r.test", "login": "ann", "password": "s*****", "auth": "Y***"}},
	}
	for _, test := range tests {
		schema := typeOf(t, test.typ).Options
		values, problems, unknown := schema.Resolve(test.options)
		if len(problems)+len(unknown) > 0 {
			t.Errorf("%s: %v %v", test.typ, problems, unknown)
		}
		shown := schema.Show(values, false)
		for key, want := range test.want {
			if shown[key] != want {
				t.Errorf("%s %s is shown as %v, want %s", test.typ, key, shown[key], want)
			}
		}
		if all := schema.Show(values, true); test.options["auth"] != nil && strings.Contains(all["auth"].(string), "W5") {
			t.Errorf("%s auth is shown as %v when all is masked", test.typ, all["auth"])
		}
	}
}

func TestPullCredentials(t *testing.T) {
	tests := []struct {
		typ, host string
		options   map[string]any
		want      sdk.Credentials
	}{
		{"hub", "docker.io", map[string]any{"login": "ann", "password": "p"}, sdk.Credentials{
			Username: "ann", Password: "p",
		}},
		{"hub", "docker.io", map[string]any{"login": "ann", "token": "t", "password": "p"}, sdk.Credentials{
			Username: "ann", Password: "t",
		}},
		{"hub", "docker.io", map[string]any{"auth": auth}, sdk.Credentials{Username: user, Password: secret}},
		{"hub", "docker.io", nil, sdk.Credentials{}},
		{"ghcr", "ghcr.io", map[string]any{"username": "ann", "token": "t"}, sdk.Credentials{Username: "ann", Password: "t"}},
		{"quay", "quay.io", map[string]any{"namespace": "team", "account": "bot", "token": "t"}, sdk.Credentials{
			Username: "team+bot", Password: "t",
		}},
		{"oci", "registry.test", nil, sdk.Credentials{}},
		{"acr", "team.azurecr.io", map[string]any{"clientid": "app", "clientsecret": "t"}, sdk.Credentials{
			Username: "app", Password: "t",
		}},
		{"docr", "registry.digitalocean.com", map[string]any{"token": "t"}, sdk.Credentials{Username: "t", Password: "t"}},
		{"gar", "europe-docker.pkg.dev", map[string]any{"token": "t"}, sdk.Credentials{
			Username: "oauth2accesstoken", Password: "t",
		}},
		{"gitlab", "registry.gitlab.com", map[string]any{"token": "t"}, sdk.Credentials{Password: "t"}},
		{"ibmcr", "cp.icr.io", map[string]any{"apikey": "t", "username": "cp"}, sdk.Credentials{
			Username: "cp", Password: "t",
		}},
		{"lscr", "lscr.io", nil, sdk.Credentials{}},
	}
	for _, test := range tests {
		r, _ := newInstance(t, test.typ, test.options)
		got, err := r.(registry.CredentialProvider).Credentials(t.Context(), registry.Repository{
			Host: test.host, Name: "a/b",
		})
		if err != nil || got != test.want {
			t.Errorf("%s %v returns %v, %v; want %v", test.typ, test.options, got, err, test.want)
		}
	}
}

func TestUnencryptedCredentialsAreWarnedAbout(t *testing.T) {
	for url, want := range map[string]int{
		"http://reg.lan:5000": 1, "http://localhost:5000": 0, "https://reg.lan:5000": 0,
	} {
		_, warnings := newInstance(t, "custom", map[string]any{"url": url, "login": user, "password": secret})
		if len(warnings) != want || want == 1 && !strings.Contains(warnings[0], "https://") {
			t.Errorf("%s: %q", url, warnings)
		}
	}
}
