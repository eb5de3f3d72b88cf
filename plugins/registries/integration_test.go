package registries_test

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// These tests use the registry of the distribution project, as Debian packages it.

// htpasswd lets ann in with the secret.
const htpasswd = "ann:$2y$05$TOiSsp6h8S6T0RPFrkx5eu/pzLMuqxAs1gkd..v3BvHYHoWyWDtxK\n"

// realRegistry runs a registry over a folder of images and returns its host and port.
func realRegistry(t *testing.T, folder, auth string) string {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		plugintest.Skip(t, "registry", err)
	}
	config := filepath.Join(t.TempDir(), "config.yml")
	text := fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: '127.0.0.1:0'}\n%s\n",
		folder, auth)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", config)
	cmd.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		listening := regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)
		var last string
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			last = lines.Text()
			if found := listening.FindStringSubmatch(last); found != nil {
				address <- found[1]
			}
		}
		select {
		case address <- "ended: " + last:
		default:
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		<-ended
		_ = cmd.Wait() // killed
	})
	host := <-address
	if !strings.HasPrefix(host, "127.0.0.1:") {
		t.Fatalf("docker-registry does not start: %s", host)
	}
	return host
}

// library is what the tests push: an image and an index, in two repositories.
type library struct {
	folder string
	image  v1.Image
	index  v1.ImageIndex
	arm    v1.Image
}

func newLibrary(t *testing.T) library {
	t.Helper()
	l := library{folder: t.TempDir()}
	host := realRegistry(t, l.folder, "")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	l.image, err = random.Image(256, 1)
	must(err)
	l.arm, err = random.Image(256, 2)
	must(err)
	created := time.Date(2025, 6, 7, 8, 9, 10, 0, time.UTC)
	l.arm, err = mutate.ConfigFile(l.arm,
		&v1.ConfigFile{OS: "linux", Architecture: "arm", Variant: "v6", RootFS: configOf(t, l.arm).RootFS,
			Config: v1.Config{User: "app", Env: []string{"A=b"}, ExposedPorts: map[string]struct{}{"80/tcp": {}}}})
	must(err)
	l.arm, err = mutate.CreatedAt(l.arm, v1.Time{Time: created})
	must(err)
	l.index = mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{
			Add: l.image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
		},
		mutate.IndexAddendum{
			Add: l.arm, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm", Variant: "v6"}},
		})
	for _, repo := range []string{"team/app", "team/db"} {
		for _, tag := range []string{"1.0.0", "1.1.0"} {
			ref, err := name.ParseReference(host + "/" + repo + ":" + tag)
			must(err)
			must(remote.Write(ref, l.image, remote.WithContext(t.Context())))
		}
		ref, err := name.ParseReference(host + "/" + repo + ":latest")
		must(err)
		must(remote.WriteIndex(ref, l.index, remote.WithContext(t.Context())))
	}
	return l
}

func configOf(t *testing.T, image v1.Image) *v1.ConfigFile {
	t.Helper()
	c, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// size is that of the layers of the image for arm.
func (l library) size(t *testing.T) (sum int64) {
	t.Helper()
	m, err := l.arm.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range m.Layers {
		sum += layer.Size
	}
	return sum
}

// check makes every request about both repositories.
func (l library) check(t *testing.T, r registry.Registry, host string) {
	t.Helper()
	both := []string{"team/app", "team/db"}
	index, err := l.index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	arm, err := l.arm.Digest()
	if err != nil {
		t.Fatal(err)
	}
	config, err := l.arm.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range both {
		repo := registry.Repository{Host: host, Name: name, ScopeHints: both}
		list, err := r.Tags(t.Context(), repo, "")
		slices.Sort(list.Tags)
		if err != nil || !slices.Equal(list.Tags, []string{"1.0.0", "1.1.0", "latest"}) {
			t.Errorf("tags of %s: %+v, %v", name, list, err)
		}
		if digest, err := r.Resolve(t.Context(), repo, "latest"); err != nil || digest != index.String() {
			t.Errorf("digest of %s: %s, %v; want %s", name, digest, err, index)
		}
		m, err := r.Manifest(t.Context(), repo, index.String(), sdk.Platform{OS: "linux", Architecture: "arm", Variant: "v7"})
		if err != nil || m.Digest != arm.String() || m.Config != config.String() ||
			m.Created.String() != "2025-06-07T08:09:10.000Z" {
			t.Errorf("manifest of %s: %+v, %v; want %s, %s", name, m, err, arm, config)
		}
		reader, can := r.(registry.ConfigReader)
		if !can {
			t.Fatalf("%T reads no configurations of images", r)
		}
		c, err := reader.ImageConfig(t.Context(), repo, index.String(), sdk.Platform{
			OS: "linux", Architecture: "arm", Variant: "v7",
		})
		if err != nil || c.User != "app" || !slices.Equal(c.Env, []string{"A=b"}) ||
			!slices.Equal(c.ExposedPorts, []string{"80/tcp"}) || c.Size != l.size(t) {
			t.Errorf("configuration of %s: %+v, %v", name, c, err)
		}
		_, err = r.Resolve(t.Context(), repo, "9.9.9")
		if !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("missing tag: %v", err)
		}
	}
	_, err = r.Tags(t.Context(), registry.Repository{Host: host, Name: "team/none"}, "")
	if !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("missing repository: %v", err)
	}
}

func TestRealRegistry(t *testing.T) {
	l := newLibrary(t)
	login := map[string]any{"login": user, "password": secret}
	custom := func(t *testing.T, host string, options map[string]any) registry.Registry {
		t.Helper()
		all := map[string]any{"url": "http://" + host}
		for k, v := range options {
			all[k] = v
		}
		r, _ := newInstance(t, "custom", all)
		return r
	}
	denied := func(t *testing.T, r registry.Registry, host string) {
		t.Helper()
		_, err := r.Tags(t.Context(), registry.Repository{Host: host, Name: "team/app"}, "")
		if !errors.Is(err, sdk.ErrUnauthorized) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("error %v", err)
		}
	}

	t.Run("plain", func(t *testing.T) {
		host := realRegistry(t, l.folder, "")
		l.check(t, custom(t, host, nil), host)
		l.check(t, custom(t, host, login), host)
		generic, _ := newInstance(t, "oci", nil)
		l.check(t, generic, host)
	})
	t.Run("htpasswd", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "htpasswd")
		if err := os.WriteFile(file, []byte(htpasswd), 0o600); err != nil {
			t.Fatal(err)
		}
		host := realRegistry(t, l.folder, fmt.Sprintf("auth: {htpasswd: {realm: test, path: %q}}", file))
		l.check(t, custom(t, host, login), host)
		l.check(t, custom(t, host, map[string]any{"auth": auth}), host)
		denied(t, custom(t, host, nil), host)
		denied(t, custom(t, host, map[string]any{"login": user, "password": "wr0ng"}), host)
	})
	t.Run("tokens", func(t *testing.T) {
		s := newTokenService(t)
		host := realRegistry(t, l.folder,
			fmt.Sprintf("auth: {token: {realm: %q, service: real, issuer: test, rootcertbundle: %q}}", s.url, s.bundle))
		l.check(t, custom(t, host, login), host)
		if got := s.requests.Load(); got != 2 { // for both repositories, and for one that is missing
			t.Errorf("%d tokens", got)
		}
		denied(t, custom(t, host, nil), host)
		denied(t, custom(t, host, map[string]any{"login": user, "password": "wr0ng"}), host)
	})
	t.Run("tokens for anonymous clients", func(t *testing.T) {
		s := newTokenService(t)
		s.open = true
		host := realRegistry(t, l.folder,
			fmt.Sprintf("auth: {token: {realm: %q, service: real, issuer: test, rootcertbundle: %q}}", s.url, s.bundle))
		generic, _ := newInstance(t, "oci", nil)
		l.check(t, generic, host)
	})
}

// The login of each kind of registry that operators run themselves, as a front
// with its own token service before the registry of the distribution project.
func TestRealRegistryAs(t *testing.T) {
	l := newLibrary(t)
	login := map[string]any{"login": user, "password": secret}
	tests := []struct {
		typ, realm string
		options    map[string]any
		wrong      string // the option of the password
	}{
		{"artifactory", "/artifactory/api/docker/images/v2/token", map[string]any{"login": user, "token": secret}, "token"},
		{"codeberg", "/v2/token", login, "password"},
		{"forgejo", "/v2/token", map[string]any{"auth": auth}, ""},
		{"gitea", "/v2/token", login, "password"},
		{"gitlab", "/jwt/auth", map[string]any{"username": user, "token": secret}, "token"},
		{"harbor", "/service/token", login, "password"},
		{"mau", "/jwt/auth", map[string]any{"username": user, "token": secret}, "token"},
		{"nexus", "/v2/token", login, "password"},
	}
	for _, test := range tests {
		t.Run(test.typ, func(t *testing.T) {
			tokens := newTokenService(t)
			var backend atomic.Pointer[httputil.ReverseProxy]
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == test.realm {
					tokens.ServeHTTP(w, r)
					return
				}
				backend.Load().ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			host := realRegistry(t, l.folder,
				fmt.Sprintf("auth: {token: {realm: %q, service: real, issuer: test, rootcertbundle: %q}}",
					front.URL+test.realm, tokens.bundle))
			backend.Store(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: host}))

			options := maps.Clone(test.options)
			options["url"] = front.URL
			own := strings.TrimPrefix(front.URL, "http://")
			r, _ := newInstance(t, test.typ, options)
			l.check(t, r, own)
			if got := tokens.requests.Load(); got != 2 { // for both repositories, and for one that is missing
				t.Errorf("%d tokens", got)
			}
			if test.wrong == "" {
				return
			}
			options[test.wrong] = "wr0ng"
			r, _ = newInstance(t, test.typ, options)
			_, err := r.Tags(t.Context(), registry.Repository{Host: own, Name: "team/app"}, "")
			if !errors.Is(err, sdk.ErrUnauthorized) ||
				!strings.Contains(err.Error(), "of registry."+test.typ+".main") || strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("error %v", err)
			}
		})
	}
}
