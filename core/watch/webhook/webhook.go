// Package webhook receives what registries and CI send when an image was pushed, so
// that the containers concerned are checked at once.
package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
)

// maxImages is how many images one push may name.
const maxImages = 100

// Image is what a push names.
type Image struct {
	// Host is the registry, such as docker.io; "" when the sender does not say it.
	Host string
	// Name is the path of the repository, such as library/nginx.
	Name string
	// Project is true when Name is the beginning of the paths that are meant.
	Project bool
}

// String returns the image without a tag, as a reference has it.
func (i Image) String() string {
	name := i.Name
	if i.Project {
		name += "/…"
	}
	return strings.TrimPrefix(i.Host+"/"+name, "/")
}

// concerns reports whether a container's image is meant.
func (i Image) concerns(host, name string) bool {
	if i.Host != "" && !strings.EqualFold(i.Host, host) && !(reference.IsHub(i.Host) && reference.IsHub(host)) {
		return false
	}
	return name == i.Name || i.Project && strings.HasPrefix(name, i.Name+"/")
}

// Push is what a body says.
type Push struct {
	// Format is which sender it is of: one of Formats.
	Format string
	// ID is the sender's own id of the push, or else the digest of its body. Ids in headers
	// do not count: a signature does not cover them, so that replays could have others.
	ID string
	// Repeats is true when two pushes of an image may have the same ID.
	Repeats bool
	// Images are those that were pushed, each repository once.
	Images []Image
	// Ignored is why a push with no images has none, such as "a ping".
	Ignored string
	// Validation is what Azure Event Grid wants to have back.
	Validation string
}

// Parse reads a push of any known format, which it tells by headers and shape.
// The error is for the sender, and repeats nothing of the body.
func Parse(header http.Header, body []byte) (Push, error) {
	var d Push
	body = bytes.TrimSpace(body)
	if !json.Valid(body) {
		return d, errors.New("the body is not JSON")
	}
	for _, f := range formats {
		found, matches, err := f.read(header, body)
		if err != nil {
			return d, fmt.Errorf("the body looks like one of %s and cannot be read: %w", f.title, err)
		}
		if matches {
			d = found
			d.Format = f.name
			break
		}
	}
	if d.Format == "" {
		return d, errors.New(`the body is of no known sender; a plain one is {"image": "ghcr.io/owner/name:tag"}`)
	}
	if d.ID == "" {
		sum := sha256.Sum256(body)
		d.ID = hex.EncodeToString(sum[:])
		d.Repeats = d.Format == "plain" || d.Format == "quay" || d.Format == "gitea"
	}
	if len(d.Images) == 0 && d.Ignored == "" {
		d.Ignored = "a push that names no image"
	}
	if len(d.Images) > maxImages {
		return d, fmt.Errorf("the body names more than %d images", maxImages)
	}
	return d, d.tidy()
}

// tidy has each repository once, in the form that containers have.
func (d *Push) tidy() error {
	var all []Image
	for _, i := range d.Images {
		if i.Host != "" {
			ref, err := reference.Parse(reference.Join(i.Host, i.Name))
			if err != nil {
				return errors.New("the body names an image that cannot be one")
			}
			i.Host, i.Name = ref.Domain, ref.Path
		}
		if i.Name == "" {
			return errors.New("the body names no repository")
		}
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	d.Images = all
	return nil
}

// named reads a reference as users write it.
func named(text string) (Image, error) {
	ref, err := reference.Parse(strings.TrimSpace(text))
	if err != nil {
		return Image{}, errors.New("it names an image that cannot be one")
	}
	return Image{Host: ref.Domain, Name: ref.Path}, nil
}
