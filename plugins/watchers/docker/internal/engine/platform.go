package engine

import (
	"github.com/docker/docker/api/types/image"
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
