package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"

	"github.com/go-jose/go-jose/v3"
)

// keys sign tokens: the last one does, all of them are published.
type keys []*jose.JSONWebKey

// add makes a key for an algorithm.
func (k *keys) add(algorithm string) error {
	key := &jose.JSONWebKey{KeyID: rand.Text(), Algorithm: algorithm, Use: "sig"}
	var err error
	switch algorithm {
	case "RS256":
		key.Key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		key.Key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		return fmt.Errorf("unknown algorithm %q", algorithm)
	}
	if err != nil {
		return err
	}
	*k = append(*k, key)
	return nil
}

func (k keys) newest() *jose.JSONWebKey { return k[len(k)-1] }

func (k keys) public() jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range k {
		set.Keys = append(set.Keys, key.Public())
	}
	return set
}
