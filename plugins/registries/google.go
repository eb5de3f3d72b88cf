package registries

import (
	"encoding/json"
	"encoding/pem"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

// The user names that say what the password is
// (https://cloud.google.com/artifact-registry/docs/docker/authentication).
const (
	googleKeyUser   = "_json_key"
	googleTokenUser = "oauth2accesstoken"
)

// google is a service account of Google Cloud.
type google struct {
	ClientEmail string `option:"clientemail" help:"client_email of the key of a service account that may read the images" example:"reader@example.iam.gserviceaccount.com"`
	PrivateKey  string `option:"privatekey,secret" help:"private_key of the same key; line breaks may be written as \\n" example:"-----BEGIN PRIVATE KEY-----\\nc2VjcmV0\\n-----END PRIVATE KEY-----\\n"`
	Key         string `option:"key,secret" help:"The whole key of a service account as JSON, best by key__file, instead of clientemail and privatekey"`
	Token       string `option:"token,secret" help:"Access token of Google Cloud, which lives for an hour, instead of a key"`
}

func (g google) login() (oci.Login, error) {
	pair := g.ClientEmail != "" || g.PrivateKey != ""
	given := 0
	for _, has := range []bool{pair, g.Key != "", g.Token != ""} {
		if has {
			given++
		}
	}
	switch {
	case given == 0:
		return nil, nil
	case given > 1:
		return nil, sdk.Invalid("key", "keep one of clientemail with privatekey, key, and token")
	case g.Token != "":
		return oci.Static(googleTokenUser, g.Token), nil
	case g.Key != "":
		return keyFile(g.Key)
	}
	if _, err := oci.Pair("clientemail", g.ClientEmail, "privatekey", g.PrivateKey); err != nil {
		return nil, err
	}
	return serviceAccount("privatekey", map[string]any{
		"type": "service_account", "client_email": g.ClientEmail, "private_key": g.PrivateKey,
	})
}

func keyFile(text string) (oci.Login, error) {
	var key map[string]any
	if json.Unmarshal([]byte(text), &key) != nil {
		return nil, sdk.Invalid("key", "is not JSON: give the content of the key file, or its path in key__file")
	}
	if email, _ := key["client_email"].(string); email == "" {
		return nil, sdk.Invalid("key", "is not the key of a service account: it has no client_email")
	}
	return serviceAccount("key", key)
}

// serviceAccount mends the private key of a key that came through an
// environment or a compose file, and checks it. option is where it came from.
func serviceAccount(option string, key map[string]any) (oci.Login, error) {
	private, _ := key["private_key"].(string)
	private = strings.TrimSpace(strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", "\r\n", "\n").Replace(private)) + "\n"
	if block, _ := pem.Decode([]byte(private)); block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return nil,
			sdk.Invalid(option,
				"holds no private key: it begins with -----BEGIN PRIVATE KEY----- and has its line breaks, or \\n for each")
	}
	key["private_key"] = private
	text, err := json.Marshal(key)
	if err != nil {
		return nil, sdk.Invalid(option, "cannot be written as JSON")
	}
	return oci.Static(googleKeyUser, string(text)), nil
}

func (g google) secrets() []string { return []string{g.PrivateKey, g.Key} }
func (g google) keys() string {
	switch {
	case g.Token != "":
		return "token"
	case g.Key != "":
		return "key"
	}
	return "clientemail and privatekey"
}
