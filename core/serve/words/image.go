package words

import (
	"cmp"
	"strings"

	"github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/internal/imagediff"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// ImageSize says how large a new image is, and how much of it is there; nil where neither is known.
func ImageSize(d imagediff.Diff) phrase.Phrase {
	if d.Size == (imagediff.Size{}) {
		return nil
	}
	size, layers := Bytes(d.Size.After), phrase.Phrase(nil)
	if size == nil {
		size = phrase.New("a size that is not known")
	}
	size = phrase.New("Compressed size: %s", size)
	if before := Bytes(d.Size.Before); before != nil {
		size = phrase.New("%s, was %s", size, before)
	}
	if d.Layers != nil {
		layers = phrase.New("%d of %d layers already there", d.Layers.Shared, d.Layers.After)
		if download := Bytes(d.Layers.Download); download != nil {
			layers = phrase.New("%s; %s to download", layers, download)
		}
	}
	return phrase.Join(" ", phrase.Sentence(size), phrase.Sentence(layers))
}

// Versions names two images: by their tags, or by more where those are the same.
func Versions(from, to watcher.PlannedImage) (before, after phrase.Phrase) {
	a, b := TagOf(from.Reference), TagOf(to.Reference)
	if Repository(from.Reference) != "" && Repository(to.Reference) != "" &&
		!sameRepository(from.Reference, to.Reference) {
		return phrase.Verbatim(from.Reference), phrase.Verbatim(to.Reference)
	}
	if a == b {
		a, b = Joined(" @", a, Digest(cmp.Or(from.Digest, from.ID))),
			Joined(" @", b, Digest(cmp.Or(to.Digest, to.ID)))
	}
	return cmp.Or(phrase.Verbatim(a), phrase.New("no tag")), cmp.Or(phrase.Verbatim(b), phrase.New("no tag"))
}

// sameRepository compares without the registry that is meant where none is named.
func sameRepository(a, b string) bool {
	plain := func(text string) string {
		return strings.TrimPrefix(strings.TrimPrefix(Repository(text), "docker.io/"), "library/")
	}
	return plain(a) == plain(b)
}

// Repository is a reference without its tag and digest.
func Repository(reference string) string {
	reference, _, _ = strings.Cut(reference, "@")
	if i := strings.LastIndexByte(reference, ':'); i > strings.LastIndexByte(reference, '/') {
		return reference[:i]
	}
	return reference
}

// TagOf is the tag of a reference, or the beginning of its digest.
func TagOf(reference string) string {
	named, digest, _ := strings.Cut(reference, "@")
	if repository := Repository(named); len(repository) < len(named) {
		return named[len(repository)+1:]
	}
	if digest != "" {
		return "@" + Digest(digest)
	}
	return ""
}

// Digest is the beginning of a digest, enough to tell two apart.
func Digest(digest string) string {
	_, hex, found := strings.Cut(digest, ":")
	if !found {
		hex = digest
	}
	return hex[:min(len(hex), 12)]
}

// Shown is the name or the tag of an image, or what is said in its place.
func Shown(text string) phrase.Phrase {
	if said := phrase.Read(text, "no tag", "no image name", "base %s"); !phrase.IsVerbatim(said) {
		return said
	}
	return phrase.Verbatim(text)
}

// RuleSource is where a rule comes from: a label, a preset, or a setting by its name.
func RuleSource(source string) phrase.Phrase {
	if strings.HasPrefix(source, "polic") {
		return phrase.Verbatim(source)
	}
	return preview.Source(source)
}

// Tag is a tag, or the beginning of the digest that stands in its place.
func Tag(tag string) string {
	if strings.HasPrefix(tag, "sha256:") {
		return "@" + Digest(tag)
	}
	if tag == "" {
		return "no tag"
	}
	return tag
}
