package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// layout is the folder of an OCI layout
// (https://github.com/opencontainers/image-spec/blob/main/image-layout.md).
type layout string

func newLayout(dir string) (layout, error) {
	l := layout(dir)
	if err := os.MkdirAll(filepath.Join(dir, ocispec.ImageBlobsDir, "sha256"), 0o755); err != nil {
		return l, err
	}
	return l,
		writeJSON(filepath.Join(dir, ocispec.ImageLayoutFile), ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion})
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func (l layout) blob(desc ocispec.Descriptor) string {
	return filepath.Join(string(l), ocispec.ImageBlobsDir, "sha256", desc.Digest.Encoded())
}

// Exists implements store.
func (l layout) Exists(_ context.Context, desc ocispec.Descriptor) (bool, error) {
	info, err := os.Stat(l.blob(desc))
	return err == nil && info.Size() == desc.Size, nil
}

// Push implements store.
func (l layout) Push(_ context.Context, desc ocispec.Descriptor, r io.Reader) (err error) {
	f, err := os.CreateTemp(filepath.Dir(l.blob(desc)), ".push-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), r)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	if sum := fmt.Sprintf("%x", hash.Sum(nil)); sum != desc.Digest.Encoded() {
		return errors.New("the file has changed meanwhile")
	}
	return os.Rename(f.Name(), l.blob(desc))
}

// Tag implements store. Artifacts under other tags stay.
func (l layout) Tag(_ context.Context, desc ocispec.Descriptor, tag string) error {
	path := filepath.Join(string(l), ocispec.ImageIndexFile)
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &index)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	index.Manifests = slices.DeleteFunc(index.Manifests, func(d ocispec.Descriptor) bool {
		return d.Annotations[ocispec.AnnotationRefName] == tag
	})
	desc.Annotations = map[string]string{ocispec.AnnotationRefName: tag}
	index.Manifests = append(index.Manifests, desc)
	return writeJSON(path, index)
}
