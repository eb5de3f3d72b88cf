package watcher

import "github.com/dogwatch/dogwatch/sdk"

// Container is what a watcher knows of a container. What its labels ask for and
// what checks find is the host's business: see sdk.Container.
type Container struct {
	// ID is the engine's identifier of the container, and Name its name without a
	// slash. Neither is empty, and no two containers of a list have the same.
	ID, Name string
	// Status is the engine's word for the container's state: "running", "exited", …
	Status string
	// Created is when the container was created; zero when the engine does not say.
	Created sdk.Time
	Labels  map[string]string
	// ImageLabels names those of Labels that the image brings: engines merge the labels
	// of an image into its containers', with the same value. A watcher that cannot tell
	// for a container names all of them. It counts if the type has the setting
	// AttributesLabels; otherwise the host takes every label for the image's.
	ImageLabels []string
	Image       Image
	// Error says why the container can only be described in part; "" when it is whole.
	Error string
}

// Image is the image that a container runs. Host, Name and Tag are as they stand
// in the image reference: nothing is expanded.
type Image struct {
	// ID is the engine's image identifier, prefixed by its digest algorithm.
	ID string
	// Host is the registry host: "ghcr.io", "localhost:5000", or "" when the reference has none.
	Host string
	// Name is the repository path, such as "nginx" or "team/app".
	Name string
	// Tag is "latest" for a reference with neither tag nor digest, and "" for one
	// with only a digest, unless the engine knows the tag.
	Tag string
	// Digest is the digest under which the engine got the image; "" when it was built there.
	Digest string
	// Pinned is true when the reference has a digest, with or without a tag before it.
	Pinned bool
	// Digests are the engine's repository digests of the image, as "repository@digest".
	Digests  []string
	Platform sdk.Platform
	// Created is when the image was built; zero when the engine does not say.
	Created sdk.Time
	// Built is true when the image was made on the engine's machine, as by docker build: no registry
	// is asked about it. It is false where that is not certain.
	Built bool
}
