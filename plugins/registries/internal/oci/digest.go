package oci

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strings"
)

// isDigest accepts the digests that the image specification registers.
func isDigest(text string) bool {
	algorithm, sum, _ := strings.Cut(text, ":")
	size := map[string]int{"sha256": 2 * sha256.Size, "sha512": 2 * sha512.Size}[algorithm]
	return size > 0 && len(sum) == size && strings.Trim(sum, "0123456789abcdef") == ""
}

// digestOf returns the digest of content, by the algorithm of like.
func digestOf(content []byte, like string) string {
	if strings.HasPrefix(like, "sha512:") {
		sum := sha512.Sum512(content)
		return "sha512:" + hex.EncodeToString(sum[:])
	}
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// verify refuses content that is not what digest names.
func verify(content []byte, digest string) error {
	if got := digestOf(content, digest); got != digest {
		return lie("answered other content (%s)", short(got))
	}
	return nil
}

// short is a digest as people compare them.
func short(digest string) string {
	if len(digest) > 19 {
		return digest[:19] + "…"
	}
	return fmt.Sprintf("%q", digest)
}
