package registries_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// led returns options that lead an instance of a type to an address, and a
// host of image references that it serves. as is the name of the option.
func led(typ registry.Type, as, to string) (options map[string]any, host string) {
	options = map[string]any{as: to}
	if o, has := typ.Options.Find("url"); has && o.Name == "url" {
		host = "registry.example.com"
		if as == "url" {
			u, _ := url.Parse(to)
			host = u.Host
		} else {
			options["url"] = "https://" + host
		}
		return options, host
	}
	known := map[string]string{
		"acr": "team.azurecr.io", "alicr": "registry.us-east-1.aliyuncs.com", "dhi": "dhi.io",
		"docr": "registry.digitalocean.com", "ecr": "public.ecr.aws",
		"gar": "us-docker.pkg.dev", "gcr": "gcr.io", "ghcr": "ghcr.io", "hub": "docker.io", "ibmcr": "icr.io",
		"lscr": "lscr.io", "ocir": "iad.ocir.io",
		"quay": "quay.io", "trueforge": "oci.trueforge.org", "oci": "registry.k8s.io",
	}
	if typ.Name == "oci" {
		options["hosts"] = known["oci"]
	}
	return options, known[typ.Name]
}

// listTags lists the tags of a repository that any registry here has.
func listTags(t *testing.T, typ, host string, options map[string]any) error {
	t.Helper()
	r, _ := newInstance(t, typ, options)
	list, err := r.Tags(t.Context(), registry.Repository{Host: host, Name: "team/app"}, "")
	if err == nil && len(list.Tags) != 1 {
		t.Errorf("tags %q", list.Tags)
	}
	return err
}

// Every type trusts the certificates of its options, and no other.
func TestTLSOfEveryType(t *testing.T) {
	ca := newAuthority(t)
	certificate, err := ca.certify("")
	if err != nil {
		t.Fatal(err)
	}
	serve := func(oldest, newest uint16) string {
		sim := registrysim.New(registrysim.Options{})
		sim.Push("team/app", "1.0.0")
		server := httptest.NewUnstartedServer(sim)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{MinVersion: oldest, MaxVersion: newest, Certificates: []tls.Certificate{*certificate}}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	current, old, ancient := serve(tls.VersionTLS12, tls.VersionTLS13), serve(tls.VersionTLS12, tls.VersionTLS12),
		serve(tls.VersionTLS10, tls.VersionTLS11)
	tests := []struct {
		name, server string
		options      map[string]any
		want         string // part of the error; "" for none
	}{
		{"unknown authority", current, nil, "certificate"},
		{"its authority", current, map[string]any{"tls.cafile": ca.file}, ""},
		{"another authority", current, map[string]any{"tls.cafile": newAuthority(t).file}, "certificate"},
		{"anything", current, map[string]any{"tls.insecure": true}, ""},
		{"new enough", current, map[string]any{"tls.cafile": ca.file, "tls.minversion": "1.3"}, ""},
		{"not new enough", old, map[string]any{"tls.cafile": ca.file, "tls.minversion": "1.3"}, "version"},
		{"old by default", ancient, map[string]any{"tls.cafile": ca.file}, "version"},
		{"old by will", ancient, map[string]any{"tls.cafile": ca.file, "tls.minversion": "1.0"}, ""},
	}
	for _, typ := range registries.Types() {
		for _, test := range tests {
			options, host := led(typ, address(typ), test.server)
			for name, value := range test.options {
				options[name] = value
			}
			err := listTags(t, typ.Name, host, options)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %s: %v, want %q", typ.Name, test.name, err, test.want)
			}
		}
	}
}

// Every type sends its requests to its mirror instead of the registry, through its proxy and
// below the project where the mirror keeps its copies.
func TestMirrorAndProxyOfEveryType(t *testing.T) {
	for _, typ := range registries.Types() {
		sim := registrysim.New(registrysim.Options{Auth: registrysim.Token, Realm: "https://cache.test/token"})
		sim.Push("copies/team/app", "1.0.0")
		sim.Push("team/app", "1.0.0")
		n := newInternet(t, map[string]http.Handler{"cache.test": sim, "plain.test": sim})
		for _, to := range []string{"https://cache.test", "https://cache.test/v2/copies/"} {
			options, host := led(typ, "mirror", to)
			if err := listTags(t, typ.Name, host, n.with(options)); err != nil {
				t.Errorf("%s by %s: %v", typ.Name, to, err)
			}
			if all, _ := n.requests(host); all != 0 {
				t.Errorf("%s sends requests to %s in spite of its mirror", typ.Name, host)
			}
		}
		if all, _ := n.requests("cache.test"); all < 5 || sim.Counts().Total != all {
			t.Errorf("%s: the proxy saw %d requests, the mirror got %+v", typ.Name, all, sim.Counts())
		}
		// A proxy sees an unencrypted request itself.
		sim.Inject(registrysim.TagsRequest, 1, registrysim.Status(200, `{"tags":["1.0.0"]}`))
		options, host := led(typ, "mirror", "http://plain.test")
		if err := listTags(t, typ.Name, host, n.with(options)); err != nil {
			t.Errorf("%s: %v", typ.Name, err)
		}
		if all, _ := n.requests("plain.test"); all != 1 {
			t.Errorf("%s: the proxy saw %d requests", typ.Name, all)
		}
	}
}

// A proxy that wants a password, and one that is not there.
func TestProxyErrorHidesCredentials(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(refusing.Close)
	err := listTags(t, "ghcr", "ghcr.io", map[string]any{
		"proxy": strings.Replace(refusing.URL, "http://", "http://ann:"+secret+"@", 1),
	})
	if err == nil || !strings.Contains(err.Error(), "the proxy "+refusing.URL+" wants other credentials") ||
		strings.Contains(err.Error(), secret) {
		t.Errorf("error %v", err)
	}
}
