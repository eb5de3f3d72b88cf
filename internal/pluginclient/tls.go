package pluginclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/dogwatch/dogwatch/internal/protocol"
)

// keyLife is longer than any process.
const keyLife = 30 * 365 * 24 * time.Hour

// HostTLS returns how a host secures its connection with one process, and the
// environment variables that let the process do the same. No other process
// has the key, and it is never used again.
//
// go-plugin can do this by itself (AutoMTLS), with keys on P-521, whose tables
// take half a megabyte in each process; these are on P-256. A process that was
// built without this package takes part all the same, as with AutoMTLS.
func HostTLS() (*tls.Config, []string, error) {
	cert, key, err := newKey(time.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of a connection with a plugin: %w", err)
	}
	config, err := protocol.MutualTLS(cert, key)
	if err != nil {
		return nil, nil, err
	}
	return config, []string{protocol.CertVariable + "=" + string(cert), protocol.KeyVariable + "=" + string(key)}, nil
}

// newKey makes a key and a certificate that vouches for itself, both as PEM.
func newKey(now time.Time) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		DNSNames:              []string{protocol.TLSName},
		NotBefore:             now.Add(-time.Minute),
		NotAfter:              now.Add(keyLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return certPEM, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}
