package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

const (
	// certificateLife is how long an agent's certificate is valid, and renewBefore when the agent asks for the next.
	certificateLife = 90 * 24 * time.Hour
	renewBefore     = 30 * 24 * time.Hour
	authorityLife   = 20 * 365 * 24 * time.Hour
	// clockSkew is how far the clocks of the two hosts may differ.
	clockSkew = 48 * time.Hour
	// controllerName is the name in the controller's certificate; no resolver is asked about it.
	controllerName = "controller.dogwatch.internal"
)

// Authority signs the certificates of one installation's agents, and that of its controller.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	now  func() time.Time
}

// OpenAuthority reads the authority from a file, which is made the first time, for its owner alone.
func OpenAuthority(path string, now func() time.Time) (*Authority, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = newAuthority(path, now()); err == nil {
			text, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the authority of the agents: %w", err)
	}
	pair, err := tls.X509KeyPair(text, text)
	if err == nil {
		if key, ok := pair.PrivateKey.(*ecdsa.PrivateKey); ok && pair.Leaf.IsCA {
			return &Authority{key, pair.Leaf, now}, nil
		}
		err = errors.New("it has no such authority")
	}
	return nil, fmt.Errorf("read the authority of the agents from %s: %w; restore the file, or remove it and have every "+
		"agent join again", path, err)
}

// newAuthority makes the file whole or not at all, and leaves one alone that is there.
func newAuthority(path string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: newSerial(), Subject: pkix.Name{CommonName: "Dogwatch agents"}, NotBefore: now.Add(-clockSkew),
		NotAfter: now.Add(authorityLife), IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	text, err := encodeKey(key)
	if err != nil {
		return err
	}
	temp, err := writeTemp(path, append(text, encodeCertificate(der)...))
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err = os.Link(temp, path); errors.Is(err, fs.ErrExist) {
		return nil // another process was first
	}
	return err
}

// writeTemp writes a file beside path that only its owner may read, and returns its path. It is on the disk by then.
func writeTemp(path string, text []byte) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

func newSerial() *big.Int {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // which never fails
	return serial
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Fingerprint is the SHA-256 of the authority's certificate.
func (a *Authority) Fingerprint() [sha256.Size]byte { return sha256.Sum256(a.cert.Raw) }

// issue signs the public key of a request, which proves that who asks has the private one. The name is for people
// that look at the certificate: the key is what identifies an agent.
func (a *Authority) issue(request []byte, name string) (der []byte, err error) {
	csr, err := x509.ParseCertificateRequest(request)
	if err == nil {
		err = csr.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("the request for a certificate is wrong: %w", err)
	}
	if key, ok := csr.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("the request for a certificate is wrong: want an ECDSA key on P-256")
	}
	now := a.now()
	return x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: newSerial(), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-clockSkew),
		NotAfter: now.Add(certificateLife), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}, a.cert, csr.PublicKey, a.key)
}

// controllerCertificate makes the certificate that the controller shows until it stops.
func (a *Authority) controllerCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: newSerial(), Subject: pkix.Name{CommonName: controllerName}, DNSNames: []string{controllerName},
		NotBefore: a.now().Add(-clockSkew), NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}, a.cert, key.Public(), a.key)
	return tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}, err
}

// keyOf identifies an agent: the SHA-256 of its public key.
func keyOf(publicKeyInfo []byte) []byte {
	sum := sha256.Sum256(publicKeyInfo)
	return sum[:]
}
