package oci

import (
	"encoding/base64"
	"encoding/json"
	"slices"
)

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
	if err != nil || json.Unmarshal(protected, &header) != nil || header.FormatLength < 0 || header.FormatLength > len(body) {
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
