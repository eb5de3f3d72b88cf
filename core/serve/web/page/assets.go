package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"strings"
	"sync"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that pages load. Its name changes with its content, so that
// browsers keep it for ever.
type asset struct {
	body   []byte
	kind   string
	packed func() []byte // compressed at the first request
}

// assets are the files by the name in their address, and these names by that of the file.
type assets struct {
	byName map[string]asset
	names  map[string]string
	// icons are the names of the icons in the sprite.
	icons map[string]bool
}

func readAssets() (assets, error) {
	all := assets{byName: map[string]asset{}, names: map[string]string{}}
	files, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return all, err
	}
	for _, f := range files {
		body, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			return all, err
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(f.Name())
		name := strings.TrimSuffix(f.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		all.names[f.Name()] = name
		if f.Name() == "icons.svg" {
			all.icons = iconNames(body)
		}
		all.byName[name] = asset{
			body: body, kind: contentType(ext), packed: sync.OnceValue(func() []byte { return compress(body) }),
		}
	}
	return all, nil
}

func contentType(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(ext)
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid, and memory does not fail
	_, _ = z.Write(body)
	_ = z.Close()
	return bytes.Clone(b.Bytes())
}
