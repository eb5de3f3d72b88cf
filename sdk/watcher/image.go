package watcher

import "github.com/dogwatch/dogwatch/internal/reference"

// ParseImage reads an image reference, such as "nginx:1.27" or "ghcr.io/team/app:1.2.3@sha256:…",
// into what it says of an Image. Nothing is expanded, but a reference with neither tag
// nor digest has the tag "latest". The error says what is wrong, and is for users to read.
func ParseImage(text string) (Image, error) {
	ref, err := reference.Split(text)
	if err != nil {
		return Image{}, err
	}
	i := Image{Host: ref.Domain, Name: ref.Path, Tag: ref.Tag}
	switch {
	case ref.Digest != "":
		i.Digest, i.Pinned, i.Digests = ref.Digest, true, []string{ref.Name() + "@" + ref.Digest}
	case ref.Tag == "":
		i.Tag = "latest"
	}
	return i, nil
}
