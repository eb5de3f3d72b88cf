package artifact_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

// plain is the login of a registry without one.
type plain struct{}

func (plain) Login(context.Context, string, string) (artifact.Login, error) {
	return artifact.Login{Plain: true}, nil
}

// served is a registry in memory; tamper changes its responses.
type served struct {
	host   string
	tamper func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{}
	next := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.tamper != nil {
			s.tamper(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.host = strings.TrimPrefix(server.URL, "http://")
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var amd64 = artifact.Platform{OS: "linux", Arch: "amd64"}

// agent is how the tests name themselves to registries.
const agent = "dogwatch/1.2.3"

const script = "#!/bin/sh\necho lamp\n"

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lamp")
	must(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

func newSigner(t *testing.T) (*artifact.Signer, artifact.Key) {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := private.MarshalText()
	must(t, err)
	s, err := artifact.NewSigner(text, "")
	must(t, err)
	k, err := artifact.ParseKey(public.String())
	must(t, err)
	return s, k
}

func (s *served) push(t *testing.T, tag string, signer *artifact.Signer, all ...artifact.Built) string {
	t.Helper()
	source, err := artifact.ParseSource(s.host + "/me/lamp:" + tag)
	must(t, err)
	digest, err := artifact.Push(t.Context(), plain{}, agent, *source.Image, all, signer)
	must(t, err)
	return digest
}

func (s *served) fetch(
	t *testing.T, f artifact.Fetcher, ref string, want artifact.Want,
) (artifact.Fetched, string, error) {
	t.Helper()
	source, err := artifact.ParseSource(s.host + "/me/lamp" + ref)
	must(t, err)
	f.Logins, f.UserAgent, f.Platform = plain{}, agent, amd64
	return fetch(t, f, source, want)
}

func fetch(
	t *testing.T, f artifact.Fetcher, source artifact.Source, want artifact.Want,
) (artifact.Fetched, string, error) {
	t.Helper()
	to, err := os.Create(filepath.Join(t.TempDir(), "fetched"))
	must(t, err)
	defer to.Close()
	got, err := f.Fetch(t.Context(), source, want, to)
	text, readErr := os.ReadFile(to.Name())
	must(t, readErr)
	return got, string(text), err
}

func versioned(b artifact.Built, version string) artifact.Built {
	b.Version = version
	return b
}

func lamp(file string) artifact.Built {
	return artifact.Built{
		File: file,
		Plugin: artifact.Plugin{
			Name: "lamp", Version: "1.0.0", SDK: "2.1.0", Types: []string{"trigger.lamp"}, Capabilities: []string{"engine"},
		},
	}
}

// TestRequestsSayWhoAsks, with the version: of a registry, to push, to look and to fetch; and of an address.
func TestRequestsSayWhoAsks(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.UserAgent()]++
	}
	s := newServed(t)
	s.tamper = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		note(r)
		next.ServeHTTP(w, r)
	}
	digest := s.push(t, "1.0.0", nil, lamp(write(t, script)))
	_, _, err := s.fetch(t, artifact.Fetcher{}, ":1.0.0", artifact.Want{})
	must(t, err)
	source, err := artifact.ParseSource(s.host + "/me/lamp:1.0.0")
	must(t, err)
	f := artifact.Fetcher{Logins: plain{}, UserAgent: agent, Platform: amd64}
	_, err = f.LookForNewer(t.Context(), artifact.Have{Source: source, Digest: digest})
	must(t, err)
	page := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		io.WriteString(w, script)
	}))
	t.Cleanup(page.Close)
	source, err = artifact.ParseSource(page.URL + "/dl/lamp")
	must(t, err)
	f.Client = page.Client()
	_, _, err = fetch(t, f, source, artifact.Want{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(script)))})
	must(t, err)
	if len(asked) != 1 || asked[agent] < 8 {
		t.Errorf("asked by %v, want %s alone", asked, agent)
	}
}

func TestFetchTakesThePlatformOfAnIndex(t *testing.T) {
	s := newServed(t)
	signer, key := newSigner(t)
	var all []artifact.Built
	for _, platform := range []string{"linux/arm64", "linux/amd64"} {
		b := lamp(write(t, script+"# "+platform))
		b.Platform = platform
		all = append(all, b)
	}
	digest := s.push(t, "1.0.0", signer, all...)
	if again := s.push(t, "again", signer, all[0], all[1]); again == "" {
		t.Error("packing twice gave no digest")
	}
	got, text, err := s.fetch(t, artifact.Fetcher{}, ":1.0.0", artifact.Want{Digest: digest})
	must(t, err)
	if text != script+"# linux/amd64" || got.Name != "lamp" || got.Version != "1.0.0" ||
		got.Platform != "linux/amd64" || got.Digest != digest ||
		!got.Key.Equal(key) || !got.Carried || len(got.Types) != 1 || got.Capabilities[0] != "engine" ||
		got.Size != int64(len(text)) {
		t.Errorf("got %+v, %q", got, text)
	}
	if got.Key.Text() != key.Text() {
		t.Errorf("key %s, want %s", got.Key, key)
	}
}

func TestFetchRefusesBadArtifacts(t *testing.T) {
	signer, key := newSigner(t)
	otherSigner, other := newSigner(t)
	file := lamp(write(t, script))
	with := func(change func(*artifact.Built)) artifact.Built {
		b := file
		change(&b)
		return b
	}
	blob := func(change func(string) string) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") {
				next.ServeHTTP(w, r)
				return
			}
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			w.Header().Set("Content-Length", rec.Header().Get("Content-Length"))
			io.WriteString(w, change(rec.Body.String()))
		}
	}
	tests := map[string]struct {
		built  artifact.Built
		signer *artifact.Signer
		want   artifact.Want
		limit  int64
		tamper func(http.ResponseWriter, *http.Request, http.Handler)
		forge  *strings.Replacer // of the manifest
		says   string
	}{
		"wrong platform of an index": {
			built: with(func(b *artifact.Built) { b.Platform = "linux/arm64" }),
			says:  "it has nothing for linux/amd64: it is for linux/arm64",
		},
		"wrong machine in the header": {built: with(func(b *artifact.Built) {
			b.File = write(t, "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00")
		}), says: "it is a program for linux/arm64, and this is linux/amd64"},
		"no program": {
			built: with(func(b *artifact.Built) { b.File = write(t, "hello") }), says: "it is no program for linux/amd64",
		},
		"swapped for the digest": {
			built: file, want: artifact.Want{Digest: "sha256:" + strings.Repeat("0", 64)},
			says: "another artifact under this reference",
		},
		"unsigned where a key is known": {built: file, want: artifact.Want{Key: key}, says: "it is not signed"},
		"signed by another key": {
			built: file, signer: otherSigner, want: artifact.Want{Key: key},
			says: "signed by another key, " + other.String() + " instead of " + key.String(),
		},
		"signed for another version": {
			built: file, signer: signer, forge: strings.NewReplacer(`"1.0.0"`, `"9.0.0"`),
			says: `its signature is for "lamp 1.0.0 "`,
		},
		"signature moved": {
			built: file, signer: signer, forge: strings.NewReplacer("untrusted comment: ", "untrusted, comment: "),
			says: "its signature is malformed",
		},
		"leaves the folder": {
			built: file, forge: strings.NewReplacer(`"lamp"`, `"../lamp"`), says: "leaves the folder of the plugins",
		},
		"hidden": {built: file, forge: strings.NewReplacer(`"lamp"`, `".lamp"`), says: "is none of a plugin"},
		"no plugin": {
			built: file, forge: strings.NewReplacer("vnd.dogwatch.plugin.v1", "vnd.oci.image"),
			says: `it is no plugin of Dogwatch, but "application/vnd.oci.image"`,
		},
		"no SHA-256":            {built: file, forge: strings.NewReplacer("sha256:", "sha999:"), says: "has no SHA-256"},
		"malformed manifest":    {built: file, forge: strings.NewReplacer("{", "["), says: "its manifest is malformed"},
		"larger than the limit": {built: file, limit: 5, says: "more than the limit of 5"},
		"truncated": {
			built: file, tamper: blob(func(text string) string { return text[:len(text)/2] }), says: "truncated",
		},
		"swapped": {
			built: file, tamper: blob(func(text string) string { return strings.Replace(text, "lamp", "LAMP", 1) }),
			says: "another file than the manifest says",
		},
		"missing": {built: file, tamper: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "{}", http.StatusNotFound)
		}, says: "the registry has no such artifact"},
		"without a login": {built: file, tamper: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "{}", http.StatusForbidden)
		}, says: "the registry refuses access (403): configure a registry component"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServed(t)
			s.push(t, "1", test.signer, test.built)
			if test.forge != nil {
				s.forge(t, "1", test.forge)
			}
			s.tamper = test.tamper
			_, _, err := s.fetch(t, artifact.Fetcher{Limit: test.limit}, ":1", test.want)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

// forge replaces the manifest under a tag.
func (s *served) forge(t *testing.T, tag string, by *strings.Replacer) {
	t.Helper()
	at := "http://" + s.host + "/v2/me/lamp/manifests/" + tag
	resp, err := http.Get(at)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	forged := by.Replace(string(text))
	if forged == string(text) {
		t.Fatalf("nothing to replace in %s", text)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, at, strings.NewReader(forged))
	must(t, err)
	req.Header.Set("Content-Type", resp.Header.Get("Content-Type"))
	put, err := http.DefaultClient.Do(req)
	must(t, err)
	put.Body.Close()
	if put.StatusCode/100 != 2 {
		t.Fatalf("put the manifest: %s", put.Status)
	}
}

// cosign signs a digest as cosign does, and returns the public key as it writes it.
func (s *served) cosign(t *testing.T, digest, signed string) artifact.Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	must(t, err)
	k, err := artifact.ParseKey(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	must(t, err)
	payload := fmt.Sprintf(`{"critical":{"identity":{"docker-reference":""},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, signed)
	sum := sha256.Sum256([]byte(payload))
	sig, err := ecdsa.SignASN1(rand.Reader, private, sum[:])
	must(t, err)
	layer := static.NewLayer([]byte(payload), "application/vnd.dev.cosign.simplesigning.v1+json")
	image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       layer,
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(sig)},
	})
	must(t, err)
	ref, err := name.ParseReference(s.host + "/me/lamp:" + strings.Replace(digest, ":", "-", 1) + ".sig")
	must(t, err)
	must(t, remote.Write(ref, image))
	return k
}

func TestFetchVerifiesCosign(t *testing.T) {
	s := newServed(t)
	b := lamp(write(t, script))
	b.Platform = "linux/amd64"
	digest := s.push(t, "1", nil, b)
	_, unsigned := newSigner(t)
	_, _, err := s.fetch(t, artifact.Fetcher{}, ":1", artifact.Want{Key: unsigned})
	if err == nil || !strings.Contains(err.Error(), "it is not signed") {
		t.Errorf("unsigned: %v", err)
	}
	stranger := s.cosign(t, digest, digest)
	key := s.cosign(t, digest, digest)
	got, _, err := s.fetch(t, artifact.Fetcher{}, ":1", artifact.Want{Key: key})
	if err != nil || !got.Key.Equal(key) || got.Carried {
		t.Errorf("got %+v, %v", got, err)
	}
	if again, err := artifact.ParseKey(key.Text()); err != nil || again.String() != key.String() {
		t.Errorf("the key in one line is %v, %v", again, err)
	}
	_, _, err = s.fetch(t, artifact.Fetcher{}, ":1", artifact.Want{Key: stranger})
	if err == nil || !strings.Contains(err.Error(), "none of its signatures is by the key") {
		t.Errorf("another key: %v", err)
	}
	moved := s.cosign(t, digest, "sha256:"+strings.Repeat("1", 64))
	_, _, err = s.fetch(t, artifact.Fetcher{}, ":1", artifact.Want{Key: moved})
	if err == nil || !strings.Contains(err.Error(), "none of its signatures is by the key") {
		t.Errorf("a signature of something else: %v", err)
	}
}

func TestFetchFile(t *testing.T) {
	file := write(t, script)
	source, err := artifact.ParseSource(file)
	must(t, err)
	public, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	key, err := artifact.ParseKey(public.String())
	must(t, err)
	f := artifact.Fetcher{Platform: amd64}
	got, text, err := fetch(t, f, source, artifact.Want{})
	if err != nil || text != script || got.Name != "lamp" || got.Ref != file || got.Digest != "sha256:"+got.SHA256 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, _, err := fetch(t, f, source, artifact.Want{Key: key}); err == nil ||
		!strings.Contains(err.Error(), "there is no lamp.minisig beside it") {
		t.Errorf("without a signature: %v", err)
	}
	for kind, sig := range map[string][]byte{
		"of the file": minisign.Sign(private, []byte(script)), "of its hash": hashed(t, private),
	} {
		must(t, os.WriteFile(file+".minisig", sig, 0o600))
		if got, _, err := fetch(t, f, source, artifact.Want{Key: key}); err != nil || !got.Key.Equal(key) {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
	must(t, os.WriteFile(file, []byte(script+"# changed"), 0o755))
	if _, _, err := fetch(t, f, source, artifact.Want{Key: key}); err == nil ||
		!strings.Contains(err.Error(), "does not hold") {
		t.Errorf("a changed file: %v", err)
	}
	if _, _, err := fetch(t, f, source, artifact.Want{Digest: "sha256:" + strings.Repeat("0", 64)}); err == nil ||
		!strings.Contains(err.Error(), "it is another file") {
		t.Errorf("a swapped file: %v", err)
	}
}

func TestFetchURL(t *testing.T) {
	var respond http.HandlerFunc
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { respond(w, r) }))
	t.Cleanup(server.Close)
	sum := sha256.Sum256([]byte(script))
	digest := fmt.Sprintf("sha256:%x", sum)
	source, err := artifact.ParseSource(server.URL + "/dl/lamp?token=s3cret")
	must(t, err)
	tests := map[string]struct {
		digest  string
		respond http.HandlerFunc
		says    string
	}{
		"whole":    {digest, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, script) }, ""},
		"unpinned": {"", nil, "needs the SHA-256 of its file"},
		"swapped": {digest, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, script+"!")
		}, "it is another file"},
		"missing": {digest, http.NotFound, "responded 404"},
		"truncated": {digest, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			io.WriteString(w, script)
		}, "it is truncated: 20 bytes came of 99"},
		"large": {digest, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat(script, 9))
		}, "the limit of 100"},
		"leads away": {digest, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x?token=s3cret", http.StatusFound)
		}, "it leads to an address that is not https://"},
		"unreachable": {digest, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			respond = test.respond
			got, _, err := fetch(t, artifact.Fetcher{Client: server.Client(), Limit: 100, Platform: amd64}, source,
				artifact.Want{Digest: test.digest})
			switch {
			case err != nil && strings.Contains(err.Error(), "s3cret"):
				t.Errorf("the error shows the query: %v", err)
			case test.says == "" && (err != nil || got.Name != "lamp" || strings.Contains(got.Ref, "s3cret")):
				t.Errorf("got %+v, %v", got, err)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

func TestParseSource(t *testing.T) {
	for text, want := range map[string]string{
		"ghcr.io/me/lamp:1.0": "ghcr.io/me/lamp:1.0", "oci://me/lamp": "docker.io/me/lamp:latest",
		"https://example.org/a/lamp?x=y": "https://example.org/a/lamp",
		"":                               "no reference", "http://example.org/lamp": "is not accepted",
		"https://ann:s3cret@example.org/lamp": "is not accepted", "ftp://x/y": "is not accepted",
		"Bad Name": "neither a file nor a reference",
	} {
		s, err := artifact.ParseSource(text)
		switch {
		case err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret")):
			t.Errorf("%q: %v, want %q", text, err, want)
		case err == nil && s.String() != want:
			t.Errorf("%q is %s, want %s", text, s, want)
		}
	}
}

func hashed(t *testing.T, private minisign.PrivateKey) []byte {
	t.Helper()
	r := minisign.NewReader(strings.NewReader(script))
	_, err := io.Copy(io.Discard, r)
	must(t, err)
	return r.Sign(private)
}
