package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
)

const (
	mediaSimpleSigning   = "application/vnd.dev.cosign.simplesigning.v1+json"
	annotationCosign     = "dev.cosignproject.cosign/signature"
	maxSignatures        = 32
	signedForPrefix      = "dogwatch-plugin "
	maxSimpleSigningSize = 64 << 10
)

// signedFor is the trusted comment of a signature that Dogwatch makes: it keeps a
// signed executable from being passed off as another plugin or version.
func signedFor(p Plugin) string {
	return signedForPrefix + strings.Join([]string{p.Name, p.Version, p.Platform}, " ")
}

// statementOf reads the trusted comment that signedFor makes; zero for another one.
func statementOf(comment string) Statement {
	text, ok := strings.CutPrefix(comment, signedForPrefix)
	name, rest, named := strings.Cut(text, " ")
	end := strings.LastIndexByte(rest, ' ') // before the platform
	if !ok || !named || end <= 0 {
		return Statement{}
	}
	return Statement{Name: name, Version: rest[:end]}
}

// errUnnamed is said of a signature of content alone.
var errUnnamed = errors.New("its signature says neither which plugin nor which version it is of, so that another one, or an old one, " +
	"could pass for it: ask its publisher to sign it with dogwatch plugin package --sign")

// checkSignature verifies the publisher's signature: by want, or without one by the
// key that the artifact carries. Without a file it verifies what the signature says of the
// plugin, and not of its content.
func (f Fetcher) checkSignature(
	ctx context.Context, repo *remote.Repository, got *Fetched, want Key, annotations map[string]string,
	signed []ocispec.Descriptor, file *os.File,
) error {
	if want.cosign != nil {
		if err := checkCosign(ctx, repo, want, signed); err != nil {
			return err
		}
		got.Key, got.Signed = want, Statement{got.Name, got.Version} // in the manifest, which is signed
		return nil
	}
	sig, key := annotations[annotationSignature], want
	if key.IsZero() {
		carried := annotations[annotationKey]
		if sig == "" && carried == "" {
			return nil
		}
		var ok bool
		if key, ok = readKey(carried); !ok || key.minisign == nil {
			if carried == "" {
				return nil // signed by a key that is not known
			}
			return errors.New("the key that it carries is malformed")
		}
		got.Carried = true
	}
	if sig == "" {
		return unsigned(key, "its manifest has no signature")
	}
	comment, err := checkMinisign(key, file, []byte(sig))
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(comment, signedForPrefix):
		return errUnnamed
	case comment != signedFor(got.Plugin):
		return fmt.Errorf("its signature is for %q, and the artifact says %q: refused",
			strings.TrimPrefix(comment, signedForPrefix), strings.TrimPrefix(signedFor(got.Plugin), signedForPrefix))
	}
	got.Key, got.Signed = key, statementOf(comment)
	return nil
}

// simpleSigning is what cosign signs.
type simpleSigning struct {
	Critical struct {
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
	} `json:"critical"`
}

// checkCosign refuses artifacts of which neither the index nor the manifest is
// signed by the key, as cosign stores signatures: under the tag sha256-….sig.
func checkCosign(ctx context.Context, repo *remote.Repository, k Key, signed []ocispec.Descriptor) error {
	found := false
	for i, d := range signed {
		if i > 0 && d.Digest == signed[0].Digest {
			continue
		}
		desc, err := repo.Resolve(ctx, strings.Replace(d.Digest.String(), ":", "-", 1)+".sig")
		if errors.Is(err, errdef.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look for its signature: %w", err)
		}
		found = true
		var m ocispec.Manifest
		if err := readJSON(ctx, repo, desc, &m); err != nil {
			return fmt.Errorf("read its signature: %w", err)
		}
		holds := func(layer ocispec.Descriptor) bool { return cosignHolds(ctx, repo, k, layer, d.Digest.String()) }
		if slices.ContainsFunc(m.Layers[:min(len(m.Layers), maxSignatures)], holds) {
			return nil
		}
	}
	if !found {
		return unsigned(k, "the registry has no cosign signature of it")
	}
	return fmt.Errorf("none of its signatures is by the key %s: signed by another key, or changed: refused; if the publisher has a new key, and you know from them that it is theirs, give it with --key and --new-key (or as key in plugins.install)", k)
}

func cosignHolds(ctx context.Context, repo *remote.Repository, k Key, layer ocispec.Descriptor, digest string) bool {
	if layer.MediaType != mediaSimpleSigning || layer.Size > maxSimpleSigningSize {
		return false
	}
	r, err := repo.Blobs().Fetch(ctx, layer)
	if err != nil {
		return false
	}
	defer r.Close()
	payload, err := io.ReadAll(io.LimitReader(r, maxSimpleSigningSize))
	if err != nil || !k.verifyCosign(sha256.Sum256(payload), layer.Annotations[annotationCosign]) {
		return false
	}
	var s simpleSigning
	return json.Unmarshal(payload, &s) == nil && s.Critical.Image.Digest == digest
}
