package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Identity is what an agent keeps of having joined.
type Identity struct {
	// URL is the address of the controller's pages.
	URL string `json:"url"`
	// Name is what the controller called the agent last.
	Name string `json:"name"`
	// Key is the agent's own, Certificate the one that the controller's Authority signed last, each in PEM.
	Key         string `json:"key"`
	Certificate string `json:"certificate,omitempty"`
	Authority   string `json:"authority,omitempty"`
	// Token is the id of the token with which the agent joins; "" once it has.
	Token string `json:"token,omitempty"`
}

// The files of an agent's folder.
const (
	identityFile = "agent.json"
	joiningFile  = "agent-joining.json"
)

// ErrNotJoined means that a folder has no identity.
var ErrNotJoined = errors.New("this host has not joined a Dogwatch: run dogwatch agent token where that serves, and what " +
	"it prints here")

// LoadIdentity reads the identity in a folder. The error is ErrNotJoined when there is none.
func LoadIdentity(dir string) (Identity, error) {
	i, err := readIdentity(filepath.Join(dir, identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return i, ErrNotJoined
	}
	return i, err
}

func readIdentity(path string) (i Identity, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(text, &i); err != nil {
		return i, fmt.Errorf("read %s: %w; join again with another token", path, err)
	}
	return i, nil
}

// save writes the file whole or not at all.
func (i Identity) save(dir, file string) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, file)
	temp, err := writeTemp(path, append(text, '\n'))
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return fmt.Errorf("keep what the agent is: %w", err)
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func newKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	text, err := encodeKey(key)
	return string(text), err
}

// request asks for a certificate of the agent's key.
func (i Identity) request() ([]byte, error) {
	block, _ := pem.Decode([]byte(i.Key))
	if block == nil {
		return nil, errors.New("the agent's key cannot be read")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the agent's key: %w", err)
	}
	return x509.CreateCertificateRequest(rand.Reader,
		&x509.CertificateRequest{Subject: pkix.Name{CommonName: i.Name}}, key)
}

// tls is the configuration for a protocol in which the agent shows its certificate.
func (i Identity) tls(protocol string, now func() time.Time) (*tls.Config, error) {
	own, err := tls.X509KeyPair([]byte(i.Certificate), []byte(i.Key))
	if err != nil {
		return nil, fmt.Errorf("the agent's certificate: %w", err)
	}
	if at := now(); at.After(own.Leaf.NotAfter) || at.Before(own.Leaf.NotBefore) {
		return nil, fmt.Errorf("the agent's certificate is valid from %s to %s, and this host's clock says %s: set the "+
			"clock, or join again with another token", day(own.Leaf.NotBefore), day(own.Leaf.NotAfter), at.UTC().Format(time.RFC3339))
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(i.Authority))
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: controllerName, RootCAs: trusted, Certificates: []tls.Certificate{own},
		NextProtos: []string{protocol}, Time: now,
	}, nil
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// expires is when the certificate is not valid any more.
func (i Identity) expires() time.Time {
	block, _ := pem.Decode([]byte(i.Certificate))
	if block == nil {
		return time.Time{}
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return cert.NotAfter
}

var errOtherController = errors.New("the token is of another Dogwatch than the one that answers: make one where that " +
	"serves")

// joiningTLS trusts the controller whose authority has a fingerprint, and sets authority to it.
func joiningTLS(fingerprint [sha256.Size]byte, now func() time.Time, authority *[]byte) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: controllerName, NextProtos: []string{protocolJoin},
		InsecureSkipVerify: true, // by a list of authorities: VerifyConnection verifies by the fingerprint
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) != 2 {
				return errors.New("what answers is no Dogwatch that takes agents")
			}
			leaf, root := s.PeerCertificates[0], s.PeerCertificates[1]
			if sha256.Sum256(root.Raw) != fingerprint {
				return errOtherController
			}
			trusted := x509.NewCertPool()
			trusted.AddCert(root)
			_, err := leaf.Verify(x509.VerifyOptions{Roots: trusted, DNSName: controllerName, CurrentTime: now()})
			var invalid x509.CertificateInvalidError
			if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
				return fmt.Errorf("the controller's certificate is valid from %s, and this host's clock says %s: set the clock",
					day(leaf.NotBefore), now().UTC().Format(time.RFC3339))
			}
			*authority = encodeCertificate(root.Raw)
			return err
		},
	}
}
