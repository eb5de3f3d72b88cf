package sdk

// ImageConfig is what an image gives to containers that do not say otherwise. See
// the OCI image specification, config.md.
type ImageConfig struct {
	User         string
	Env          []string // "NAME=value"
	Entrypoint   []string
	Cmd          []string
	WorkingDir   string
	Labels       map[string]string
	ExposedPorts []string // "80/tcp"
	Volumes      []string // paths
	StopSignal   string
	// Healthcheck is the test as Docker writes it: "CMD-SHELL", "curl …"; nil for none.
	Healthcheck []string
	Platform    Platform
	// Size is the compressed size of all layers, in bytes; 0 when it is not known.
	Size int64
	// Layers are in the order in which they are applied; nil when they are not known.
	Layers []Layer
	// Base names the image on which this one is built, where its manifest is annotated
	// with that (org.opencontainers.image.base.name); "" when it is not.
	Base string
}

// Layer is a layer of an image.
type Layer struct {
	Digest string
	// Size is its compressed size in bytes.
	Size int64
}
