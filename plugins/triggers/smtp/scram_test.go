package smtp

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"testing"

	gosmtp "github.com/emersion/go-smtp"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// challengeServer is the server's side of a login of several steps: each step
// responds to what the client sent; the last one says nothing.
type challengeServer struct {
	steps []func(response string) (challenge string, err error)
}

func (c *challengeServer) Next(response []byte) ([]byte, bool, error) {
	step := c.steps[0]
	c.steps = c.steps[1:]
	challenge, err := step(string(response))
	return []byte(challenge), len(c.steps) == 0, err
}

// cramServer is RFC 2195.
func cramServer(pass string, accept func()) *challengeServer {
	const challenge = "<1.2@test>"
	return &challengeServer{steps: []func(string) (string, error){
		func(string) (string, error) { return challenge, nil },
		func(response string) (string, error) {
			mac := hmac.New(md5.New, []byte(pass))
			mac.Write([]byte(challenge))
			if response != account+" "+hex.EncodeToString(mac.Sum(nil)) {
				return "", gosmtp.ErrAuthFailed
			}
			accept()
			return "", nil
		},
	}}
}

// scramServer is RFC 5802 without channel binding.
func scramServer(t *testing.T, h func() hash.Hash, pass string, accept func()) *challengeServer {
	const salt, rounds = "salt", 4096
	sign := func(key []byte, text string) []byte {
		mac := hmac.New(h, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	salted, err := pbkdf2.Key(h, pass, []byte(salt), rounds, h().Size())
	if err != nil {
		t.Error(err)
	}
	var said, first string
	return &challengeServer{steps: []func(string) (string, error){
		func(string) (string, error) { return "", nil }, // the client sends nothing along with AUTH
		func(response string) (string, error) {
			said = strings.TrimPrefix(response, "n,,")
			_, nonce, _ := strings.Cut(said, ",r=")
			first = fmt.Sprintf("r=%sserver,s=%s,i=%d", nonce, base64.StdEncoding.EncodeToString([]byte(salt)), rounds)
			return first, nil
		},
		func(response string) (string, error) {
			bare, proof, _ := strings.Cut(response, ",p=")
			message := said + "," + first + "," + bare
			clientKey := sign(salted, "Client Key")
			stored := h()
			stored.Write(clientKey)
			signature := sign(stored.Sum(nil), message)
			for i := range signature {
				signature[i] ^= clientKey[i]
			}
			if proof != base64.StdEncoding.EncodeToString(signature) {
				return "", gosmtp.ErrAuthFailed
			}
			return "v=" + base64.StdEncoding.EncodeToString(sign(sign(salted, "Server Key"), message)), nil
		},
		func(string) (string, error) { accept(); return "", nil },
	}}
}

// Logins that do not show the password are preferred, even without encryption.
func TestScramLoginHidesThePassword(t *testing.T) {
	for _, offered := range []string{"CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256"} {
		for _, pass := range []string{password, "wr0ng-s3cret"} {
			t.Run(offered+" "+pass, func(t *testing.T) {
				s := &server{mechanisms: []string{offered}}
				if offered != "CRAM-MD5" {
					s.mechanisms = append(s.mechanisms, "PLAIN") // less wanted than SCRAM
				}
				s.onChallenge = func(mechanism string, accept func()) *challengeServer {
					switch mechanism {
					case "CRAM-MD5":
						return cramServer(password, accept)
					case "SCRAM-SHA-1":
						return scramServer(t, sha1.New, password, accept)
					case "SCRAM-SHA-256":
						return scramServer(t, sha256.New, password, accept)
					}
					t.Errorf("the client chose %s", mechanism)
					return nil
				}
				got, err := deliver(t, start(t, s), map[string]any{"pass": pass}, triggertest.Request("nginx"))
				if pass == password {
					if err != nil || got.user != account {
						t.Errorf("%v, %v", got, err)
					}
					return
				}
				if err == nil || strings.Contains(err.Error(), pass) || !errors.Is(err, sdk.ErrUnauthorized) {
					t.Errorf("wrong password: %v", err)
				}
			})
		}
	}
}
