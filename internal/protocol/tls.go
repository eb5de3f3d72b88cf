package protocol

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

const (
	// CertVariable has the host's certificate. It is go-plugin's: a process that
	// finds only this one makes a key of its own and sends the host its certificate.
	CertVariable = "PLUGIN_CLIENT_CERT"
	// KeyVariable has the key of that certificate, with which both sides prove themselves.
	KeyVariable = "DOGWATCH_PLUGIN_KEY"
	// TLSName is the name in the certificate, as in go-plugin.
	TLSName = "localhost"
)

// MutualTLS is the configuration of a side that has, and expects of the other, this certificate.
func MutualTLS(certPEM, keyPEM []byte) (*tls.Config, error) {
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
		ServerName:   TLSName,
		MinVersion:   tls.VersionTLS12, // plugins may be built with an older Go
	}, nil
}
