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
}
