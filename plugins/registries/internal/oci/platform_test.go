package oci

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestChoosePlatform(t *testing.T) {
	tests := []struct{ want, has, chosen string }{
		{"linux/amd64", "linux/arm64 linux/amd64", "linux/amd64"},
		{"linux/amd64/v1", "linux/amd64", "linux/amd64"},
		{"linux/amd64", "linux/amd64/v3 linux/amd64/v1", "linux/amd64/v1"},
		{"linux/amd64", "linux/amd64/v2", ""},
		{"linux/amd64/v3", "linux/amd64 linux/amd64/v2 linux/amd64/v4", "linux/amd64/v2"},
		{"linux/x86_64", "linux/amd64", "linux/amd64"},
		{"Linux/AMD64", "linux/amd64", "linux/amd64"},
		{"/amd64", "linux/amd64", "linux/amd64"},
		{"linux/arm64", "linux/arm64/v8", "linux/arm64/v8"},
		{"linux/aarch64/8", "linux/arm64", "linux/arm64"},
		{"linux/arm64/v8", "linux/arm64/v9", ""},
		{"linux/arm/v7", "linux/arm/v5 linux/arm/v6 linux/arm/v7", "linux/arm/v7"},
		{"linux/arm/v7", "linux/arm/v5 linux/arm/v6", "linux/arm/v6"},
		{"linux/arm/v7", "linux/arm/v5", "linux/arm/v5"},
		{"linux/arm/v6", "linux/arm/v7", ""},
		{"linux/arm/v5", "linux/arm/v7 linux/arm/v6", ""},
		{"linux/arm", "linux/arm/v6 linux/arm/v7", "linux/arm/v7"},
		{"linux/armhf", "linux/arm/v7", "linux/arm/v7"},
		{"linux/armel", "linux/arm/v6", "linux/arm/v6"},
		{"linux/arm/v7", "linux/arm/odd", ""},
		{"windows/amd64", "linux/amd64 windows/amd64 windows/amd64", "windows/amd64"},
		{"linux/amd64", "unknown/unknown linux/amd64", "linux/amd64"},
		{"unknown/unknown", "unknown/unknown linux/amd64", ""},
		{"linux/386", "linux/amd64 linux/386", "linux/386"},
		{"linux/s390x", "-", "-"},
		{"linux/s390x", "- linux/amd64", ""},
		{"linux/s390x", "linux/amd64", ""},
		{"linux", "linux/s390x linux/amd64", "linux/s390x"},
		{"linux/amd64", "", ""},
	}
	for _, test := range tests {
		var entries []descriptor
		for text := range strings.FieldsSeq(test.has) {
			e := descriptor{Digest: text}
			if text != "-" {
				p := platform(text)
				e.Platform = &p
			}
			entries = append(entries, e)
		}
		got, err := choosePlatform(entries, platform(test.want))
		if got.Digest != test.chosen || (err == nil) != (test.chosen != "") {
			t.Errorf("%s of %q: %q, %v; want %q", test.want, test.has, got.Digest, err, test.chosen)
		}
		if err != nil {
			checkKind(t, err, sdk.ErrNotFound)
		}
	}
}

func TestChoosePlatformErrorListsPlatforms(t *testing.T) {
	for has, want := range map[string]string{
		"":                                       "there is nothing",
		"unknown/unknown":                        "there is nothing",
		"linux/amd64":                            "there is linux/amd64",
		"linux/arm64/v8 linux/amd64 linux/amd64": "there is linux/amd64, linux/arm64",
		strings.Repeat("linux/arm/v5 windows ", 9): "there is linux/arm/v5, windows/",
	} {
		var entries []descriptor
		for text := range strings.FieldsSeq(has) {
			p := platform(text)
			entries = append(entries, descriptor{Platform: &p})
		}
		_, err := choosePlatform(entries, platform("linux/s390x"))
		if err == nil || !strings.HasSuffix(err.Error(), "no image for linux/s390x; "+want) {
			t.Errorf("%q: error %v, want %q", has, err, want)
		}
	}
}

func platform(text string) sdk.Platform {
	parts := append(strings.Split(text, "/"), "", "")
	return sdk.Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}
}
