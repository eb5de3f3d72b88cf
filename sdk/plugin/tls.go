package plugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"
)

const (
	// certVariable has the host's certificate. It is go-plugin's: a process that
	// finds only this one makes a key of its own and tells the host its certificate.
	certVariable = "PLUGIN_CLIENT_CERT"
	// keyVariable has the key of that certificate, with which both sides prove themselves.
	keyVariable = "DOGWATCH_PLUGIN_KEY"
	// tlsName is what both sides call themselves, as in go-plugin.
	tlsName = "localhost"
	// keyLife is longer than any process.
	keyLife = 30 * 365 * 24 * time.Hour
)

// HostTLS returns how a host secures its connection with one process, and the
// environment variables that let the process do the same. Nobody else has the
// key, and it is never used again.
//
// go-plugin can do this by itself (AutoMTLS), with keys on P-521, whose tables
// take half a megabyte in each process; these are on P-256. A process that was
// built without this package takes part all the same, as with AutoMTLS.
func HostTLS() (*tls.Config, []string, error) {
	cert, key, err := newKey(time.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of a connection with a plugin: %w", err)
	}
	config, err := mutualTLS(cert, key)
	if err != nil {
		return nil, nil, err
	}
	return config, []string{certVariable + "=" + string(cert), keyVariable + "=" + string(key)}, nil
}

// processTLS returns how a process that a host started secures its connection;
// nil when the host gave it no key, and go-plugin is to see to it. The key is
// gone from the environment then: what the plugin starts must not have it.
func processTLS() (*tls.Config, error) {
	key := os.Getenv(keyVariable)
	if key == "" {
		return nil, nil
	}
	if err := os.Unsetenv(keyVariable); err != nil {
		return nil, err
	}
	return mutualTLS([]byte(os.Getenv(certVariable)), []byte(key))
}

// mutualTLS is the configuration of a side that has, and expects of the other, this certificate.
func mutualTLS(certPEM, keyPEM []byte) (*tls.Config, error) {
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("read the key of the connection between host and plugin: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(certPEM) {
		return nil, errors.New("read the certificate of the connection between host and plugin: it is none")
	}
	return &tls.Config{
		Certificates: []tls.Certificate{cert},
		RootCAs:      pool,
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ServerName:   tlsName,
		MinVersion:   tls.VersionTLS12, // plugins may be built with an older Go
	}, nil
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
		DNSNames:              []string{tlsName},
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
