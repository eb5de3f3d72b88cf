package mqtt

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority is a certificate authority with certificates for a broker and a client.
type authority struct{ dir string }

func (a authority) file(name string) string { return filepath.Join(a.dir, name) }

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{t.TempDir()}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootKey := a.issue(t, "ca", root, root, nil)
	for i, name := range []string{"server", "client"} {
		a.issue(t, name, &x509.Certificate{
			SerialNumber: big.NewInt(int64(2 + i)), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}, root, rootKey)
	}
	return a
}

// issue writes a certificate and its key; without a signer it signs itself.
func (a authority) issue(
	t *testing.T, name string, c, parent *x509.Certificate, signer *ecdsa.PrivateKey,
) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(a.file(file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return key
}

// hashed is a line of a password file as mosquitto's own tool writes it.
func hashed(user, password string) string {
	salt, rounds := []byte("twelve bytes"), 101
	key, err := pbkdf2.Key(sha512.New, password, salt, rounds, 64)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s:$7$%d$%s$%s\n", user, rounds, base64.StdEncoding.EncodeToString(salt),
		base64.StdEncoding.EncodeToString(key))
}
