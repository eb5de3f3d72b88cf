package artifact

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// Login is how a registry is reached.
type Login struct {
	// Host is where the registry's API is, when that is not the host of the reference.
	Host string
	// Plain is for http://.
	Plain              bool
	Username, Password string
	// Transport makes the requests; nil means that of package net/http.
	Transport http.RoundTripper
}

// Logins finds the login of a registry that the configuration has, if it has any.
type Logins interface {
	Login(ctx context.Context, host, repository string) (Login, error)
}

// maxManifest is the largest manifest or index that is read, as registries limit them.
const maxManifest = 4 << 20

// repository opens the repository of a reference. agent is who makes the requests.
func repository(
	ctx context.Context, logins Logins, agent string, ref reference.Reference,
) (*remote.Repository, error) {
	var login Login
	if logins != nil {
		var err error
		if login, err = logins.Login(ctx, ref.Domain, ref.Path); err != nil {
			return nil, fmt.Errorf("find the login of %s: %w", ref.Domain, err)
		}
	}
	host := ref.Domain
	if login.Host != "" {
		host = login.Host
	}
	repo, err := remote.NewRepository(host + "/" + ref.Path)
	if err != nil {
		return nil, fmt.Errorf("the reference is malformed: %w", err)
	}
	repo.PlainHTTP = login.Plain
	client := &auth.Client{Client: &http.Client{Transport: login.Transport}, Cache: auth.NewCache()}
	client.SetUserAgent(agent)
	if login.Username != "" || login.Password != "" {
		client.Credential = auth.StaticCredential(repo.Reference.Host(), auth.Credential{
			Username: login.Username, Password: login.Password,
		})
	}
	repo.Client = client
	return repo, nil
}

// explain says what a registry's response means for the user. The errors of the
// library name the address, which holds no secret.
func explain(err error, ref reference.Reference) error {
	var response *errcode.ErrorResponse
	switch {
	case errors.Is(err, errdef.ErrNotFound), errors.As(err, &response) && response.StatusCode == http.StatusNotFound:
		return errors.New("the registry has no such artifact")
	case errors.As(err, &response) &&
		(response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden):
		return fmt.Errorf("the registry refuses access (%d): configure a registry component for %s with a login that may read it, or log in with docker login", response.StatusCode, ref.Domain)
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("the registry wants a login: configure a registry component for %s, or log in with docker login", ref.Domain)
	}
	return err
}

func (f Fetcher) fetchImage(ctx context.Context, ref reference.Reference, want Want, to *os.File) (Fetched, error) {
	repo, err := repository(ctx, f.Logins, f.UserAgent, ref)
	if err != nil {
		return Fetched{}, err
	}
	root, err := resolve(ctx, repo, ref)
	if err != nil {
		return Fetched{}, err
	}
	found, err := f.inspect(ctx, repo, root, want)
	if err != nil {
		return Fetched{}, err
	}
	if err := f.download(ctx, repo, found.layer, to); err != nil {
		return Fetched{}, err
	}
	if err := found.check(ctx, f, want.Key, to); err != nil {
		return Fetched{}, err
	}
	return found.Fetched, found.checkTag(ref.Tag)
}

// artifact is what the registry says of one, without its executable.
type artifact struct {
	Fetched
	repo        *remote.Repository
	layer       ocispec.Descriptor
	annotations map[string]string
	signed      []ocispec.Descriptor // the index and the manifest
}

// check verifies the publisher's signature; see checkSignature.
func (a *artifact) check(ctx context.Context, f Fetcher, want Key, file *os.File) error {
	return f.checkSignature(ctx, a.repo, &a.Fetched, want, a.annotations, a.signed, file)
}

// checkTag refuses an artifact whose version is another one than that of its tag. One that
// is not signed may say no version.
func (a *artifact) checkTag(tag string) error {
	if a.Version == "" && a.Key.IsZero() {
		return nil
	}
	return CheckTag(tag, a.Version)
}

// inspect reads what an artifact says, and refuses what is none for this platform.
func (f Fetcher) inspect(
	ctx context.Context, repo *remote.Repository, root ocispec.Descriptor, want Want,
) (none artifact, err error) {
	if want.Digest != "" && root.Digest.String() != want.Digest {
		return none,
			fmt.Errorf("the registry has another artifact under this reference: its digest is %s, want %s", root.Digest,
				want.Digest)
	}
	desc, err := f.choose(ctx, repo, root)
	if err != nil {
		return none, err
	}
	var m ocispec.Manifest
	if err := readJSON(ctx, repo, desc, &m); err != nil {
		return none, err
	}
	layer, err := f.executable(m)
	if err != nil {
		return none, err
	}
	got := Fetched{
		Plugin: pluginOf(m, layer), Digest: root.Digest.String(), SHA256: layer.Digest.Encoded(), Size: layer.Size,
	}
	if desc.Platform != nil {
		got.Platform = Platform{desc.Platform.OS, desc.Platform.Architecture, desc.Platform.Variant}.String()
	}
	if err := f.checkPlatform(got.Platform); err != nil {
		return none, err
	}
	return artifact{got, repo, layer, m.Annotations, []ocispec.Descriptor{root, desc}}, nil
}

func resolve(ctx context.Context, repo *remote.Repository, ref reference.Reference) (ocispec.Descriptor, error) {
	digest := cmp.Or(ref.Digest, ref.Tag)
	root, err := repo.Resolve(ctx, digest)
	if err != nil {
		return root, explain(err, ref)
	}
	return root, nil
}

// choose returns the manifest for the platform: that of an index, or the only one.
func (f Fetcher) choose(
	ctx context.Context, repo *remote.Repository, root ocispec.Descriptor,
) (ocispec.Descriptor, error) {
	if root.MediaType != ocispec.MediaTypeImageIndex {
		return root, nil
	}
	var index ocispec.Index
	if err := readJSON(ctx, repo, root, &index); err != nil {
		return root, err
	}
	var best ocispec.Descriptor
	var rank int
	var offered []string
	for _, m := range index.Manifests {
		r := 2 // of a script, which suits any platform
		if m.Platform != nil {
			p := Platform{m.Platform.OS, m.Platform.Architecture, m.Platform.Variant}
			offered = append(offered, p.String())
			r = f.Platform.suits(p)
		}
		if r > rank {
			best, rank = m, r
		}
	}
	if rank == 0 {
		return root, fmt.Errorf("it has nothing for %s: it is for %s", f.Platform, strings.Join(offered, ", "))
	}
	return best, nil
}

func (f Fetcher) checkPlatform(platform string) error {
	if platform == "" {
		return nil
	}
	p, err := ParsePlatform(platform)
	if err == nil && f.Platform.suits(p) == 0 {
		err = fmt.Errorf("it is for %s, and this is %s", platform, f.Platform)
	}
	return err
}

// executable returns the one layer that a plugin has.
func (f Fetcher) executable(m ocispec.Manifest) (ocispec.Descriptor, error) {
	var none ocispec.Descriptor
	if m.ArtifactType != "" && m.ArtifactType != TypePlugin || len(m.Layers) == 0 ||
		m.Layers[0].MediaType != MediaExecutable {
		what := cmp.Or(m.ArtifactType, m.Config.MediaType)
		return none, fmt.Errorf("it is no plugin of Dogwatch, but %q: dogwatch plugin package makes one", what)
	}
	if len(m.Layers) > 1 {
		return none, fmt.Errorf("it has %d layers: a plugin is one executable", len(m.Layers))
	}
	layer := m.Layers[0]
	switch {
	case layer.Digest.Validate() != nil || layer.Digest.Algorithm() != "sha256":
		return none, errors.New("its manifest has no SHA-256 of the executable")
	case layer.Size > f.Limit:
		return none, f.tooLarge(layer.Size)
	case layer.Size <= 0:
		return none, errors.New("it is empty")
	}
	return layer, nil
}

func pluginOf(m ocispec.Manifest, layer ocispec.Descriptor) Plugin {
	a := m.Annotations
	name := cmp.Or(a[annotationTitle], layer.Annotations[annotationTitle])
	return Plugin{
		Name: name, Version: a[annotationVersion], SDK: a[annotationSDK], Platform: a[annotationPlatform],
		Types: strings.Fields(a[annotationTypes]), Capabilities: strings.Fields(a[annotationCapabilities]),
	}
}

// download writes a layer to a file, whatever the registry sends.
func (f Fetcher) download(ctx context.Context, repo *remote.Repository, layer ocispec.Descriptor, to *os.File) error {
	r, err := repo.Blobs().Fetch(ctx, layer)
	if err != nil {
		if strings.Contains(err.Error(), "Content-Length") {
			return fmt.Errorf("the registry sends another size than the manifest says (%d bytes): truncated or swapped",
				layer.Size)
		}
		return fmt.Errorf("fetch the executable: %w", err)
	}
	defer r.Close()
	sum, size, err := f.copyTo(to, io.LimitReader(r, layer.Size+1))
	switch {
	case size < layer.Size:
		return fmt.Errorf("it is truncated: %d bytes came of %d", size, layer.Size)
	case err != nil:
		return err
	case size > layer.Size || sum != layer.Digest.Encoded():
		return fmt.Errorf("the registry sends another file than the manifest says: its checksum is %s, want %s", sum,
			layer.Digest.Encoded())
	}
	return nil
}

// readJSON reads a manifest or an index, and verifies its digest.
func readJSON(ctx context.Context, repo *remote.Repository, desc ocispec.Descriptor, into any) error {
	if desc.Size > maxManifest {
		return fmt.Errorf("its manifest has %d bytes, more than any should", desc.Size)
	}
	r, err := repo.Fetch(ctx, desc)
	if err != nil {
		return fmt.Errorf("fetch its manifest: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, desc.Size+1))
	if err != nil {
		return fmt.Errorf("fetch its manifest: %w", err)
	}
	if sum := sha256.Sum256(data); "sha256:"+hex.EncodeToString(sum[:]) != desc.Digest.String() {
		return fmt.Errorf("the registry sends another manifest than %s", desc.Digest)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return errors.New("its manifest is malformed")
	}
	return nil
}
