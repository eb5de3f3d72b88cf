// Package dockerconfig reads the credentials that Docker's client keeps in its
// config.json: in the file itself, or behind credential helpers
// (https://docs.docker.com/reference/cli/docker/login/#credential-stores).
package dockerconfig

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

const (
	// fileName is what the file is called in Docker's folder.
	fileName = "config.json"
	maxFile  = 1 << 20
	// hubServer is how Docker's client calls Docker Hub.
	hubServer = "https://index.docker.io/v1/"
)

// config is what matters here of config.json.
type config struct {
	Auths       map[string]auth   `json:"auths"`
	CredHelpers map[string]string `json:"credHelpers"`
	CredsStore  string            `json:"credsStore"`
}

type auth struct {
	Auth          string `json:"auth"` // base64 of user:password
	Username      string `json:"username"`
	Password      string `json:"password"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// read reads a file, whose folder may be given instead. Its errors repeat nothing
// of its content.
func read(path string) (config, error) {
	f, err := os.Open(path)
	if err != nil {
		return config{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return config{}, err
	}
	if len(text) > maxFile {
		return config{}, fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	var c config
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch err := json.Unmarshal(text, &c); {
	case errors.As(err, &syntax):
		return config{}, fmt.Errorf("%s is no JSON (at byte %d)", path, syntax.Offset)
	case errors.As(err, &shape):
		return config{},
			fmt.Errorf("%s is not what Docker writes: %s must not be a JSON %s", path, shape.Field, kindOf(shape.Value))
	case err != nil:
		return config{}, fmt.Errorf("%s is not what Docker writes", path)
	}
	return c, nil
}

// kindOf is the kind of a JSON value, which stands before its text: "number 7".
func kindOf(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	return kind
}

// locate returns the file that a path names, which may be that of its folder.
func locate(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, fileName)
	}
	return path
}

// hostOf returns the host that a key of config.json stands for, in lower case:
// "https://host/v1/", "host", "host:port". One with another path stands for a
// part of a registry, and for no host.
func hostOf(key string) (string, bool) {
	key = strings.ToLower(key)
	for _, scheme := range []string{"https://", "http://"} {
		key = strings.TrimPrefix(key, scheme)
	}
	host, path, _ := strings.Cut(key, "/")
	switch strings.Trim(path, "/") {
	case "", "v1", "v2":
		return canonical(host), host != "" && !strings.ContainsAny(host, "@?#\\ ")
	}
	return "", false
}

// canonical gives the hosts of Docker Hub one name.
func canonical(host string) string {
	host = strings.ToLower(host)
	if reference.IsHub(host) || host == "registry.hub.docker.com" {
		return reference.DefaultDomain
	}
	return host
}

// find returns the entry for a host and its key, which is how Docker's client
// calls it. The key that is the host itself is preferred.
func find[V any](entries map[string]V, host string) (v V, key string, found bool) {
	if v, found := entries[host]; found {
		return v, host, true
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if name, isHost := hostOf(key); isHost && name == host {
			return entries[key], key, true
		}
	}
	return v, "", false
}

// credentials returns what an entry holds, and whether it can be read. One
// without a password, as those of credential stores are, holds nothing.
func (a auth) credentials() (c sdk.Credentials, readable bool) {
	switch {
	case a.IdentityToken != "":
		return sdk.Credentials{Username: oci.IdentityToken, Password: a.IdentityToken}, true
	case a.RegistryToken != "":
		return sdk.Credentials{Username: oci.RegistryToken, Password: a.RegistryToken}, true
	case a.Username != "" && a.Password != "":
		return sdk.Credentials{Username: a.Username, Password: a.Password}, true
	case a.Auth == "":
		return sdk.Credentials{}, true
	}
	// Docker's client pads with NUL.
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(a.Auth))
	user, password, split := strings.Cut(string(decoded), ":")
	password = strings.Trim(password, "\x00")
	if err != nil || !split || user == "" || password == "" {
		return sdk.Credentials{}, false
	}
	return sdk.Credentials{Username: user, Password: password}, true
}
