package oci

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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
		return protocolError("answered other content (%s)", short(got))
	}
	return nil
}

// short is the beginning of a digest, for messages.
func short(digest string) string {
	if len(digest) > 19 {
		return digest[:19] + "…"
	}
	return fmt.Sprintf("%q", digest)
}

// signedContent returns what the signatures of a signed schema 1 manifest are
// about, which is also what its digest is of, and any other content as it is
// (https://distribution.github.io/distribution/spec/manifest-v2-1/, "Signed Manifests").
func signedContent(body []byte) []byte {
	var signed struct {
		SchemaVersion int `json:"schemaVersion"`
		Signatures    []struct {
			Protected string `json:"protected"`
		} `json:"signatures"`
	}
	if json.Unmarshal(body, &signed) != nil || signed.SchemaVersion != 1 || len(signed.Signatures) == 0 {
		return body
	}
	// The signature says where the content was broken off to insert the signatures, and how it went on.
	var header struct {
		FormatLength int    `json:"formatLength"`
		FormatTail   string `json:"formatTail"`
	}
	protected, err := base64.RawURLEncoding.DecodeString(signed.Signatures[0].Protected)
	if err != nil || json.Unmarshal(protected, &header) != nil || header.FormatLength < 0 ||
		header.FormatLength > len(body) {
		return body
	}
	tail, err := base64.RawURLEncoding.DecodeString(header.FormatTail)
	if err != nil {
		return body
	}
	return slices.Concat(body[:header.FormatLength], tail)
}

// verifyManifest is verify for manifests, whose digest may be that of their signed content.
func verifyManifest(body []byte, digest string) error {
	err := verify(body, digest)
	if err != nil && verify(signedContent(body), digest) == nil {
		return nil
	}
	return err
}
