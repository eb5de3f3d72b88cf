package sink

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Identity is a certificate of 127.0.0.1, which is its own authority.
type Identity struct {
	tls.Certificate
	// CertFile and KeyFile are PEM files.
	CertFile, KeyFile string

	key *ecdsa.PrivateKey
}

// Identify makes an identity that lasts until the end of t.
func Identify(t testing.TB) *Identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &Identity{key: key}
	i.Leaf = &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if i.Certificate, err = i.sign(i.Leaf); err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	i.CertFile = write(t, "CERTIFICATE", i.Leaf.Raw)
	i.KeyFile = write(t, "PRIVATE KEY", secret)
	return i
}

// For returns a certificate of a host, signed by the authority.
func (i *Identity) For(host string) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: i.Leaf.NotBefore, NotAfter: i.Leaf.NotAfter, DNSNames: []string{host},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{ip}
	}
	signed, err := i.sign(template)
	return &signed, err
}

// sign makes a certificate of a template, with the one key there is.
func (i *Identity) sign(template *x509.Certificate) (tls.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, i.Leaf, &i.key.PublicKey, i.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: i.key, Leaf: leaf}, err
}

func write(t testing.TB, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "identity.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
