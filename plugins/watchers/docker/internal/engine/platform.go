package engine

import (
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/swarm"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/sdk"
)

// OtherPlatform returns the platform for which a container runs an image, and whether that
// is another one than the engine describes. Only engines that store several platforms of
// an image say it (API 1.48).
func OtherPlatform(described sdk.Platform, own *ocispec.Descriptor) (sdk.Platform, bool) {
	if own == nil || own.Platform == nil || own.Platform.Architecture == "" {
		return described, false
	}
	p := own.Platform
	other := plainPlatform(sdk.Platform{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant})
	return other, other != plainPlatform(described)
}

// plainPlatform leaves out the variant that an architecture has anyway, which builders write
// or not (https://pkg.go.dev/github.com/containerd/platforms#Normalize).
func plainPlatform(p sdk.Platform) sdk.Platform {
	switch p.Architecture + "/" + p.Variant {
	case "amd64/v1", "arm64/v8", "arm/v7":
		p.Variant = ""
	}
	return p
}

func PlatformOf(got image.InspectResponse) sdk.Platform {
	return sdk.Platform{OS: got.Os, Architecture: got.Architecture, Variant: got.Variant}
}

// NodePlatform returns the platform of a node of a swarm, which has the architecture as its kernel calls it
// (uname(2)): "x86_64", "aarch64", "armv7l".
func NodePlatform(p swarm.Platform) sdk.Platform {
	out := sdk.Platform{OS: p.OS, Architecture: p.Architecture}
	switch p.Architecture {
	case "x86_64":
		out.Architecture = "amd64"
	case "aarch64":
		out.Architecture = "arm64"
	case "i386", "i686":
		out.Architecture = "386"
	case "armv6l":
		out.Architecture, out.Variant = "arm", "v6"
	case "armv7l":
		out.Architecture, out.Variant = "arm", "v7"
	}
	return out
}
