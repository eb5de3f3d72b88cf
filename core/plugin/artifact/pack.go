package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"aead.dev/minisign"
	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// Built is an executable for one platform, to be packed.
type Built struct {
	Plugin
	File string
}

// Signer signs executables with a key of minisign; nil signs nothing.
type Signer struct{ private minisign.PrivateKey }

// NewSigner reads the file of a private key of minisign. password is "" for a key without.
func NewSigner(data []byte, password string) (*Signer, error) {
	var s Signer
	var err error
	if minisign.IsEncrypted(data) {
		s.private, err = minisign.DecryptKey(password, data)
	} else {
		err = s.private.UnmarshalText(data)
	}
	if err != nil {
		return nil, errors.New("the private key cannot be used: it is no key of minisign, or the password is wrong")
	}
	return &s, nil
}

// Key is the public key.
func (s *Signer) Key() Key {
	public, _ := s.private.Public().(minisign.PublicKey)
	return Key{minisign: &public, text: public.String()}
}

// Encrypted reports whether the file of a private key needs a password.
func Encrypted(data []byte) bool { return minisign.IsEncrypted(data) }

// Push packs executables into a registry, and returns the digest of the artifact. agent is how the requests name who
// makes them.
func Push(
	ctx context.Context, logins Logins, agent string, ref reference.Reference, all []Built, signer *Signer,
) (string, error) {
	repo, err := repository(ctx, logins, agent, ref)
	if err != nil {
		return "", err
	}
	tag := ref.Tag
	if tag == "" {
		return "", fmt.Errorf("%s: say under which tag to push it", ref)
	}
	desc, err := pack(ctx, repo, tag, all, signer)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ref, explain(err, ref))
	}
	return desc.Digest.String(), nil
}

// WriteLayout packs executables into the folder of an OCI layout, and returns the
// digest of the artifact.
func WriteLayout(ctx context.Context, dir, tag string, all []Built, signer *Signer) (string, error) {
	l, err := newLayout(dir)
	if err != nil {
		return "", fmt.Errorf("make the folder of the layout: %w", err)
	}
	desc, err := pack(ctx, l, tag, all, signer)
	return desc.Digest.String(), err
}

// store is where an artifact goes: a repository of a registry, or a layout.
type store interface {
	Exists(ctx context.Context, desc ocispec.Descriptor) (bool, error)
	Push(ctx context.Context, desc ocispec.Descriptor, r io.Reader) error
	Tag(ctx context.Context, desc ocispec.Descriptor, tag string) error
}

// pack makes one manifest for each executable and, unless there is only one for
// any platform, an index over them.
func pack(ctx context.Context, target store, tag string, all []Built, signer *Signer) (ocispec.Descriptor, error) {
	var manifests []ocispec.Descriptor
	for _, b := range all {
		if err := CheckName(b.Name); err != nil {
			return ocispec.Descriptor{}, err
		}
		desc, err := packOne(ctx, target, b, signer)
		if err != nil {
			return desc, fmt.Errorf("pack %s: %w", b.File, err)
		}
		manifests = append(manifests, desc)
	}
	root := manifests[0]
	if len(manifests) > 1 || root.Platform != nil {
		index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex,
			ArtifactType: TypePlugin, Manifests: manifests,
			Annotations: map[string]string{annotationTitle: all[0].Name, annotationVersion: all[0].Version}}
		var err error
		if root, err = pushJSON(ctx, target, ocispec.MediaTypeImageIndex, index); err != nil {
			return root, err
		}
	}
	return root, target.Tag(ctx, root, tag)
}

func packOne(ctx context.Context, target store, b Built, signer *Signer) (ocispec.Descriptor, error) {
	f, err := os.Open(b.File)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	defer f.Close()
	layer, annotations, err := describe(f, b.Plugin, signer)
	if err != nil {
		return layer, err
	}
	if err := push(ctx, target, layer, f); err != nil {
		return layer, err
	}
	config := ocispec.DescriptorEmptyJSON
	if err := push(ctx, target, config, bytes.NewReader(config.Data)); err != nil {
		return layer, err
	}
	desc, err := pushJSON(ctx, target, ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: TypePlugin,
		Config: config, Layers: []ocispec.Descriptor{layer}, Annotations: annotations,
	})
	if err != nil {
		return desc, err
	}
	if b.Platform != "" {
		p, err := ParsePlatform(b.Platform)
		if err != nil {
			return desc, err
		}
		desc.Platform = &ocispec.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}
	}
	return desc, nil
}

// describe returns the layer of an executable and the annotations of its manifest,
// and leaves the file at its start.
func describe(f *os.File, p Plugin, signer *Signer) (ocispec.Descriptor, map[string]string, error) {
	none := ocispec.Descriptor{}
	hash := sha256.New()
	reader := minisign.NewReader(f)
	size, err := io.Copy(hash, reader)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return none, nil, err
	}
	annotations := map[string]string{
		// A fixed time makes packing the same files twice the same artifact.
		ocispec.AnnotationCreated: time.Unix(0, 0).UTC().Format(time.RFC3339),
		annotationTitle:           p.Name, annotationVersion: p.Version, annotationSDK: p.SDK, annotationPlatform: p.Platform,
		annotationTypes: strings.Join(p.Types, " "), annotationCapabilities: strings.Join(p.Capabilities, " "),
	}
	if signer != nil {
		annotations[annotationKey] = signer.Key().Text()
		annotations[annotationSignature] = string(reader.SignWithComments(signer.private, signedFor(p),
			"signature of a plugin of dogwatch"))
	}
	for key, value := range annotations {
		if value == "" {
			delete(annotations, key)
		}
	}
	layer := ocispec.Descriptor{MediaType: MediaExecutable,
		Digest: digest.Digest("sha256:" + hex.EncodeToString(hash.Sum(nil))), Size: size,
		Annotations: map[string]string{annotationTitle: p.Name}}
	return layer, annotations, nil
}

// pushJSON stores a manifest or an index of plugins, and returns what it is.
func pushJSON(ctx context.Context, target store, mediaType string, v any) (ocispec.Descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	desc := ocispec.Descriptor{
		MediaType: mediaType, ArtifactType: TypePlugin, Digest: digest.FromBytes(data), Size: int64(len(data)),
	}
	return desc, push(ctx, target, desc, bytes.NewReader(data))
}

// push stores content unless it is there.
func push(ctx context.Context, target store, desc ocispec.Descriptor, from io.Reader) error {
	if there, err := target.Exists(ctx, desc); err == nil && there {
		return nil
	}
	err := target.Push(ctx, desc, from)
	if errors.Is(err, errdef.ErrAlreadyExists) {
		return nil
	}
	return err
}

// PlatformOf returns the platform that an executable is for, by its header: "" for a
// script, and an error when it has none that is known.
func PlatformOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return platformOf(f)
}
