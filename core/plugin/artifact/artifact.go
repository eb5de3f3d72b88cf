// Package artifact says what a plugin is while it travels: an OCI artifact in a
// registry, a file behind an https:// address, or a file. It packs executables,
// fetches the one for a platform into a file, and verifies size, checksum and the
// publisher's signature on the way. What is fetched is never started here.
package artifact

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// The media types of a plugin artifact. Its manifest has the artifact type, the
// empty configuration of OCI, and one layer, which is the executable as it is.
const (
	TypePlugin      = "application/vnd.dogwatch.plugin.v1"
	MediaExecutable = "application/vnd.dogwatch.plugin.executable.v1"
)

// The annotations of a manifest. Name and version are those of OCI.
const (
	annotationTitle        = "org.opencontainers.image.title"
	annotationVersion      = "org.opencontainers.image.version"
	annotationSDK          = "io.github.dogwatch.plugin.sdk"
	annotationTypes        = "io.github.dogwatch.plugin.types"
	annotationCapabilities = "io.github.dogwatch.plugin.capabilities"
	annotationPlatform     = "io.github.dogwatch.plugin.platform"
	annotationSignature    = "io.github.dogwatch.plugin.minisig"
	annotationKey          = "io.github.dogwatch.plugin.key"
)

// MaxSize is how large an executable may be unless the user allows more.
const MaxSize = 256 << 20

// Plugin is what an artifact says of itself. None of it is verified by more than
// the signature, when there is one.
type Plugin struct {
	Name    string
	Version string
	SDK     string
	// Types are as "trigger.lamp", Capabilities those that any of them wants.
	Types        []string
	Capabilities []string
	// Platform is as "linux/amd64"; "" for any, as of a script.
	Platform string
}

// Fetched is an executable that was fetched, and what was verified of it.
type Fetched struct {
	Plugin
	Ref string
	// Digest is that of the artifact: of its index, or of its only manifest; of a file its SHA-256.
	Digest string
	SHA256 string
	Size   int64
	// Key is the publisher's, whose signature holds; zero when the artifact is not
	// signed, or signed by a key that is not known.
	Key Key
	// Carried reports that the key came with the artifact, and was not given.
	Carried bool
	// Signed is what the signature says of the plugin besides its content; zero where it says nothing.
	Signed Statement
}

// Statement is the name of a plugin, its publisher's own, and its version, as they are signed.
type Statement struct{ Name, Version string }

// Platform is a system that executables are for.
type Platform struct{ OS, Arch, Variant string }

// Here is the platform of this process.
func Here() Platform {
	p := Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	if p.Arch == "arm" {
		p.Variant = armVariant()
	}
	return p
}

func (p Platform) String() string {
	text := p.OS + "/" + p.Arch
	if p.Variant != "" {
		text += "/" + p.Variant
	}
	return text
}

// ParsePlatform reads "linux/arm/v7".
func ParsePlatform(text string) (Platform, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Platform{}, fmt.Errorf("platform %q: want os/arch, such as linux/amd64 or linux/arm/v7", text)
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	return p, nil
}

// suits returns how well an executable for other runs on p: 0 for not at all.
func (p Platform) suits(other Platform) int {
	switch {
	case p.OS != other.OS || p.Arch != other.Arch:
		return 0
	case other.Variant == p.Variant:
		return 100
	case other.Variant == "":
		return 1
	case p.Arch == "arm" && p.Variant != "" && other.Variant < p.Variant: // v7 runs what is for v6
		return 1 + int(other.Variant[len(other.Variant)-1]-'0')
	case p.Arch == "arm64" && p.Variant == "" && other.Variant == "v8",
		p.Arch == "amd64" && p.Variant == "" && other.Variant == "v1":
		return 50
	}
	return 0
}

var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName refuses names that are no file directly inside a folder, or a hidden one.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the artifact does not say its name: give one with --name")
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("the name %q leaves the folder of the plugins: refused", name)
	case !nameForm().MatchString(name):
		return fmt.Errorf("the name %q is none of a plugin: want up to 100 letters, digits, dots, - and _, the first one a letter or a digit", name)
	}
	return nil
}
