package oci

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
)

// choose returns the entry of an index that an engine of the given platform
// would pull, by the rules of containerd: same system and architecture, then
// the highest variant that is not above the wanted one. The version of Windows is
// ignored, an entry without a platform is taken only when it is the sole one,
// and without a wanted architecture the first image is.
func choosePlatform(entries []descriptor, want sdk.Platform) (descriptor, error) {
	want = normalizePlatform(want)
	best, bestVariant := -1, -1
	var has []string
	for i, e := range entries {
		if e.Platform == nil || isAttestation(e) {
			continue
		}
		p := normalizePlatform(*e.Platform)
		has = append(has, platformText(p))
		if p.OS != want.OS || want.Architecture != "" && p.Architecture != want.Architecture {
			continue
		}
		if p.Variant == want.Variant || want.Architecture == "" {
			return e, nil
		}
		v, w := variantNumber(p.Variant), variantNumber(want.Variant)
		if v >= 0 && v < w && v > bestVariant {
			best, bestVariant = i, v
		}
	}
	if best >= 0 {
		return entries[best], nil
	}
	if len(entries) == 1 && entries[0].Platform == nil {
		return entries[0], nil
	}
	slices.Sort(has)
	there := "nothing"
	if has = slices.Compact(has); len(has) > 0 {
		there = strings.Join(has[:min(len(has), 20)], ", ")
	}
	return descriptor{},
		sdk.WithKind(sdk.ErrNotFound, fmt.Errorf("no image for %s; there is %s", platformText(want), there))
}

// isAttestation reports whether an entry says how an image was built, or what is in it,
// rather than an image (BuildKit, "Attestation storage").
func isAttestation(e descriptor) bool {
	return e.Platform.OS == "unknown" || e.Platform.Architecture == "unknown" ||
		e.Annotations["vnd.docker.reference.type"] == "attestation-manifest"
}

// normal writes a platform in the one way in which platforms are compared.
func normalizePlatform(p sdk.Platform) sdk.Platform {
	p = sdk.Platform{
		OS: strings.ToLower(p.OS), Architecture: strings.ToLower(p.Architecture), Variant: strings.ToLower(p.Variant),
	}
	switch p.OS {
	case "":
		p.OS = "linux"
	case "macos":
		p.OS = "darwin"
	}
	switch p.Architecture {
	case "x86_64", "x86-64":
		p.Architecture = "amd64"
	case "i386", "i486", "i586", "i686":
		p.Architecture = "386"
	case "aarch64":
		p.Architecture = "arm64"
	case "armhf":
		p.Architecture, p.Variant = "arm", "v7"
	case "armel":
		p.Architecture, p.Variant = "arm", "v6"
	}
	if p.Variant != "" && p.Variant[0] != 'v' {
		p.Variant = "v" + p.Variant
	}
	p.Variant = cmp.Or(p.Variant, usualVariant[p.Architecture])
	return p
}

// usualVariant is what is meant when an architecture is named without a variant.
var usualVariant = map[string]string{"amd64": "v1", "arm64": "v8", "arm": "v7"}

// variantNumber orders variants: "v7" is 70, "v8.2" is 82; -1 is no variant that can be ordered.
func variantNumber(v string) int {
	major, minor, _ := strings.Cut(strings.TrimPrefix(v, "v"), ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < 0 || n > 99 {
		return -1
	}
	m, err := strconv.Atoi(minor)
	if err != nil || m < 0 || m > 9 {
		m = 0
	}
	return n*10 + m
}

// platformText writes a platform as image tools do: "linux/arm/v7".
func platformText(p sdk.Platform) string {
	text := p.OS + "/" + p.Architecture
	if p.Variant != "" && (p.Architecture == "arm" || p.Variant != usualVariant[p.Architecture]) {
		text += "/" + p.Variant
	}
	return text
}
