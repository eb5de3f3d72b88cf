package kubernetes

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
	"github.com/dogwatch/dogwatch/sdk"
)

// dockerConfig are the logins of a secret, by the registry that they are for.
type dockerConfig map[string]dockerLogin

// dockerLogin is a login as docker login writes it.
type dockerLogin struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Auth     string `json:"auth"` // base64 of username:password
}

var errNoConfig = errors.New("it is no secret of the type kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg")

// parseSecret reads the logins of a secret. Nothing of it is in the error.
func parseSecret(s *cluster.Secret) (config dockerConfig, err error) {
	switch s.Type {
	case "kubernetes.io/dockerconfigjson":
		var file struct {
			Auths dockerConfig `json:"auths"`
		}
		err = json.Unmarshal(s.Data.Config, &file)
		config = file.Auths
	case "kubernetes.io/dockercfg":
		err = json.Unmarshal(s.Data.Old, &config)
	default:
		return nil, errNoConfig
	}
	if err != nil { // which may quote a password
		return nil, errNoConfig
	}
	return config, nil
}

// find returns the credentials for a repository: of several the one that names most of its path. Names of registries
// are patterns: https://kubernetes.io/docs/concepts/containers/images/#config-json.
func (c dockerConfig) find(host, repository string) (found sdk.Credentials, has bool) {
	best := -1
	for _, name := range slices.Sorted(maps.Keys(c)) {
		pattern, below := splitRegistry(name)
		if !servesHost(pattern, host) || below != "" && below != repository && !strings.HasPrefix(repository, below+"/") {
			continue
		}
		rank := 2 * len(below)
		if !strings.Contains(pattern, "*") {
			rank++
		}
		if credentials, ok := c[name].credentials(); ok && rank > best {
			best, found, has = rank, credentials, true
		}
	}
	return found, has
}

func (l dockerLogin) credentials() (c sdk.Credentials, ok bool) {
	c = sdk.Credentials{Username: l.Username, Password: l.Password}
	if l.Auth != "" {
		text, err := base64.StdEncoding.DecodeString(l.Auth)
		if err != nil {
			return sdk.Credentials{}, false
		}
		c.Username, c.Password, _ = strings.Cut(string(text), ":")
	}
	// A name in angle brackets would be no name to a registry plugin, see sdk.Credentials.
	return c, c.Username != "" && c.Password != "" && !strings.HasPrefix(c.Username, "<")
}

// splitRegistry returns the host and the path of the name of a registry: "https://index.docker.io/v1/" is that of
// Docker Hub.
func splitRegistry(name string) (host, below string) {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
	host, below, _ = strings.Cut(name, "/")
	if below = strings.Trim(below, "/"); below == "v1" || below == "v2" {
		below = ""
	}
	if reference.IsHub(host) {
		host = "docker.io"
	}
	return strings.ToLower(host), below
}

// servesHost reports whether a pattern, in which "*" stands for what is between two dots or a part of it, means a host.
// A port must be the same.
func servesHost(pattern, host string) bool {
	wanted, labels := strings.Split(pattern, "."), strings.Split(strings.ToLower(host), ".")
	if len(wanted) != len(labels) {
		return false
	}
	for i, w := range wanted {
		if matches, err := path.Match(w, labels[i]); err != nil || !matches {
			return false
		}
	}
	return true
}

// imageName returns the registry and the repository of an image.
func imageName(image string) (host, repository string, ok bool) {
	ref, err := reference.Parse(image)
	return ref.Domain, ref.Path, err == nil
}
