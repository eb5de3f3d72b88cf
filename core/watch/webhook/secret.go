package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// authentic reports whether a request has the secret of a hook, or was signed with it.
// What a sender can do differs:
//   - GitHub signs the body in X-Hub-Signature-256
//     (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries);
//   - Gitea and Forgejo in X-Gitea-Signature and X-Forgejo-Signature, in hexadecimal digits;
//   - GitLab sends the secret in X-Gitlab-Token;
//   - Harbor, Azure and distribution registries send an Authorization header of one's choice;
//   - Docker Hub and Quay can do nothing but call an address: token is what it has as its
//     query, and counts where the hook allows it.
func (h Hook) authentic(header http.Header, token string, body []byte) bool {
	sign := hmac.New(sha256.New, []byte(h.Secret))
	sign.Write(body)
	signature := hex.EncodeToString(sign.Sum(nil))
	given := strings.TrimSpace(header.Get("Authorization"))
	if scheme, rest, found := strings.Cut(given, " "); found && strings.EqualFold(scheme, "Bearer") {
		given = strings.TrimSpace(rest)
	}
	valid := equal(strings.TrimPrefix(header.Get("X-Hub-Signature-256"), "sha256="), signature)
	for _, name := range []string{"X-Gitea-Signature", "X-Forgejo-Signature"} {
		valid = equal(header.Get(name), signature) || valid
	}
	valid = equal(header.Get("X-Gitlab-Token"), h.Secret) || valid
	valid = equal(given, h.Secret) || valid
	return equal(token, h.Secret) && h.URLToken || valid // compared in any case, so that it takes as long
}

// equal compares in a time that does not depend on where the texts differ, nor on their lengths.
func equal(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
