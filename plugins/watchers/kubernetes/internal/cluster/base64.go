package cluster

import (
	"encoding/base64"
	"errors"
	"strings"
)

// base64Data is content that YAML has as base64.
type base64Data []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *base64Data) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return errors.New("is not base64")
	}
	*b = data
	return nil
}
