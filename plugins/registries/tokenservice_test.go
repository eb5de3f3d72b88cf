package registries_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// tokenService signs tokens as the distribution project specifies
// (https://distribution.github.io/distribution/spec/auth/jwt/).
type tokenService struct {
	url, bundle string
	// open gives tokens to anonymous clients.
	open     bool
	requests atomic.Int32

	key   *rsa.PrivateKey
	chain string
}

func newTokenService(t *testing.T) *tokenService {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := &tokenService{
		bundle: filepath.Join(t.TempDir(), "bundle.pem"), key: key, chain: base64.StdEncoding.EncodeToString(der),
	}
	if err := os.WriteFile(s.bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/token"
	return s
}

func (s *tokenService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if name, password, _ := r.BasicAuth(); !s.open && (name != user || password != secret) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	type access struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		Actions []string `json:"actions"`
	}
	var granted []access
	for _, scope := range r.URL.Query()["scope"] {
		parts := strings.Split(scope, ":")
		granted = append(granted, access{Type: parts[0], Name: parts[1], Actions: strings.Split(parts[2], ",")})
	}
	now := time.Now()
	claims := map[string]any{
		"iss": "test", "sub": user, "aud": r.URL.Query().Get("service"), "jti": fmt.Sprint(now.UnixNano()),
		"iat": now.Unix(), "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(5 * time.Minute).Unix(), "access": granted,
	}
	token, err := s.sign(map[string]any{"typ": "JWT", "alg": "RS256", "x5c": []string{s.chain}}, claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintf(w, `{"access_token":%q,"expires_in":300}`, token)
}

func (s *tokenService) sign(parts ...any) (string, error) {
	var texts []string
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		texts = append(texts, base64.RawURLEncoding.EncodeToString(text))
	}
	signed := strings.Join(texts, ".")
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
