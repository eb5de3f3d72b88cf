package registries_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// newInstance makes an instance called main, and returns what it warned of.
func newInstance(t *testing.T, typ string, options map[string]any) (registry.Registry, []string) {
	t.Helper()
	var warnings []string
	env := sdk.Env{Instance: "registry." + typ + ".main", Name: "main", Warn: func(m string) { warnings = append(warnings, m) }}
	r, err := typeOf(t, typ).New(env, options)
	if err != nil {
		t.Fatal(err)
	}
	return r, warnings
}

func TestTypes(t *testing.T) {
	withoutConfiguration := map[string]string{}
	for _, typ := range registries.Types() {
		withoutConfiguration[typ.Name] = typ.DefaultName
		if len(typ.Capabilities) != 1 || typ.Capabilities[0] != "credentials" {
			t.Errorf("%s has the capabilities %q", typ.Name, typ.Capabilities)
		}
	}
	want := map[string]string{"hub": "public", "ghcr": "public", "quay": "public", "ecr": "public", "oci": "public", "custom": ""}
	if len(withoutConfiguration) != len(want) {
		t.Errorf("types %v", withoutConfiguration)
	}
	for name, instance := range want {
		if withoutConfiguration[name] != instance {
			t.Errorf("%s exists as %q, want %q", name, withoutConfiguration[name], instance)
		}
	}
}

func TestHosts(t *testing.T) {
	hub := []registry.Host{{Pattern: "docker.io"}, {Pattern: "index.docker.io"}, {Pattern: "registry-1.docker.io"}}
	at := func(url string, hosts ...registry.Host) []registry.Host {
		var all []registry.Host
		for _, h := range hosts {
			all = append(all, registry.Host{Pattern: h.Pattern, URL: url})
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
	tests := []struct {
		typ     string
		options map[string]any
		want    []registry.Host
	}{
		{"hub", nil, at("https://registry-1.docker.io/v2", hub...)},
		{"hub", map[string]any{"url": "http://cache.lan:5000/"}, at("http://cache.lan:5000/v2", hub...)},
		{"ghcr", nil, []registry.Host{{Pattern: "ghcr.io"}, {Pattern: "*.ghcr.io"}}},
		{"quay", nil, []registry.Host{{Pattern: "quay.io"}, {Pattern: "*.quay.io"}}},
		{"oci", nil, []registry.Host{{Pattern: "*"}}},
		{"custom", map[string]any{"url": "https://Reg.example.com"}, at("https://Reg.example.com/v2", registry.Host{Pattern: "reg.example.com"}, registry.Host{Pattern: "reg.example.com:443"})},
		{"custom", map[string]any{"url": "http://reg.lan:80/v2/"}, at("http://reg.lan:80/v2", registry.Host{Pattern: "reg.lan:80"}, registry.Host{Pattern: "reg.lan"})},
		{"custom", map[string]any{"url": "https://[2001:db8::1]:5000/docker/"}, at("https://[2001:db8::1]:5000/docker/v2", registry.Host{Pattern: "[2001:db8::1]:5000"})},
		{"ecr", nil, []registry.Host{{Pattern: "public.ecr.aws"}}},
		{"ecr", keys(nil), []registry.Host{{Pattern: "*.dkr.ecr.eu-west-1.amazonaws.com"}, {Pattern: "*.dkr.ecr-fips.eu-west-1.amazonaws.com"}}},
		{"ecr", keys(map[string]any{"region": "cn-north-1", "accountid": "123456789012", "public": true}), []registry.Host{
			{Pattern: "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn"}, {Pattern: "123456789012.dkr.ecr-fips.cn-north-1.amazonaws.com.cn"}, {Pattern: "public.ecr.aws"}}},
	}
	for _, test := range tests {
		r, _ := newInstance(t, test.typ, test.options)
		got, _ := json.Marshal(r.Hosts())
		want, _ := json.Marshal(test.want)
		if string(got) != string(want) {
			t.Errorf("%s %v serves %s\nwant %s", test.typ, test.options, got, want)
		}
	}
}

// What the HTTP interface shows of each type's secrets.
func TestMasks(t *testing.T) {
	tests := []struct {
		typ     string
		options map[string]any
		want    map[string]string
	}{
		{"ecr", map[string]any{"region": "eu-west-1", "accesskeyid": "AKIAXYZ", "secretaccesskey": "wJalr"}, map[string]string{"region": "eu-west-1", "accesskeyid": "A******", "secretaccesskey": "w****"}},
		{"hub", map[string]any{"auth": "YW5uOnM="}, map[string]string{"auth": "YW5uOnM="}},
		{"hub", map[string]any{"login": "ann", "password": "secret", "token": "token"}, map[string]string{"login": "ann", "password": "s*****", "token": "t****"}},
		{"ghcr", map[string]any{"username": "ann", "token": "ghp_x"}, map[string]string{"username": "ann", "token": "g****"}},
		{"quay", map[string]any{"namespace": "team", "account": "bot", "token": "ABC"}, map[string]string{"namespace": "team", "account": "bot", "token": "A**"}},
		{"custom", map[string]any{"url": "https://r.test", "login": "ann", "password": "secret", "auth": "YW5u"}, map[string]string{"url": "https://r.test", "login": "ann", "password": "s*****", "auth": "Y***"}},
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
		{"hub", "docker.io", map[string]any{"login": "ann", "password": "p"}, sdk.Credentials{Username: "ann", Password: "p"}},
		{"hub", "docker.io", map[string]any{"login": "ann", "token": "t", "password": "p"}, sdk.Credentials{Username: "ann", Password: "t"}},
		{"hub", "docker.io", map[string]any{"auth": auth}, sdk.Credentials{Username: user, Password: secret}},
		{"hub", "docker.io", nil, sdk.Credentials{}},
		{"ghcr", "ghcr.io", map[string]any{"username": "ann", "token": "t"}, sdk.Credentials{Username: "ann", Password: "t"}},
		{"quay", "quay.io", map[string]any{"namespace": "team", "account": "bot", "token": "t"}, sdk.Credentials{Username: "team+bot", Password: "t"}},
		{"oci", "registry.test", nil, sdk.Credentials{}},
	}
	for _, test := range tests {
		r, _ := newInstance(t, test.typ, test.options)
		got, err := r.(registry.CredentialProvider).Credentials(t.Context(), registry.Repository{Host: test.host, Name: "a/b"})
		if err != nil || got != test.want {
			t.Errorf("%s %v lends %v, %v; want %v", test.typ, test.options, got, err, test.want)
		}
	}
}

func TestUnencryptedCredentialsAreMentioned(t *testing.T) {
	for url, want := range map[string]int{"http://reg.lan:5000": 1, "http://localhost:5000": 0, "https://reg.lan:5000": 0} {
		_, warnings := newInstance(t, "custom", map[string]any{"url": url, "login": user, "password": secret})
		if len(warnings) != want || want == 1 && !strings.Contains(warnings[0], "https://") {
			t.Errorf("%s: %q", url, warnings)
		}
	}
}
