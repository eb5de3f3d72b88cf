package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// contextPrefix is before the name of a context of the docker command, see
// https://docs.docker.com/engine/manage-resources/contexts/.
const contextPrefix = "docker-context:"

// dockerContext is a meta.json of the docker command, as far as it matters.
type dockerContext struct {
	Name      string
	Endpoints map[string]struct {
		Host          string
		SkipTLSVerify bool
	}
}

// locateContext reads where the context called name leads, with the TLS files that it has unless the options have
// others.
func (o Connection) locateContext(field, name string) (engine.Endpoint, []string, error) {
	invalid := func(format string, args ...any) (engine.Endpoint, []string, error) {
		return engine.Endpoint{}, nil, sdk.Invalid(field, format, args...)
	}
	if name == "default" { // which is no file, and leads to the engine of this machine
		return o.locate(field, "unix://"+defaultSocket)
	}
	dir, err := contextsDir()
	if err != nil {
		return invalid("the folder of Docker's contexts is not known: %v; set DOCKER_CONFIG", err)
	}
	// The folder of a context is named by the hash of its name.
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	file := filepath.Join(dir, "meta", id, "meta.json")
	content, err := readFile(field, file)
	if _, gone := os.Stat(file); gone != nil && os.IsNotExist(gone) {
		return invalid("%s", unknownContext(dir, name))
	}
	if err != nil {
		return engine.Endpoint{}, nil, err
	}
	var c dockerContext
	if err := json.Unmarshal(content, &c); err != nil {
		return invalid("%s cannot be read: %v", file, err)
	}
	at := c.Endpoints["docker"]
	switch {
	case at.Host == "":
		return invalid("the context %s has no address of a Docker Engine", name)
	case at.SkipTLSVerify:
		return invalid("the context %s does not verify the engine's certificate (skip-tls-verify), which Dogwatch always "+
			"does: give it the CA, or write the address and cafile instead", name)
	case strings.HasPrefix(at.Host, contextPrefix):
		return invalid("the context %s leads to another context", name)
	}
	material := filepath.Join(dir, "tls", id, "docker")
	o.CAFile = cmp.Or(o.CAFile, existing(filepath.Join(material, "ca.pem")))
	if o.CertFile == "" && o.KeyFile == "" {
		o.CertFile = existing(filepath.Join(material, "cert.pem"))
		o.KeyFile = existing(filepath.Join(material, "key.pem"))
	}
	endpoint, warnings, err := o.locate(field, at.Host)
	if err != nil {
		return invalid("the address of the context %s cannot be used: %v", name, err)
	}
	return endpoint, warnings, nil
}

// contextsDir is the folder with the contexts of the docker command.
func contextsDir() (string, error) {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(dir, "contexts"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".docker", "contexts"), err
}

// existing is the path of a file, or "" where there is none.
func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// unknownContext says which contexts there are instead.
func unknownContext(dir, name string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "meta", "*", "meta.json"))
	names := []string{"default"}
	for _, file := range files {
		var c dockerContext
		if content, err := readFile("", file); err == nil && json.Unmarshal(content, &c) == nil && c.Name != "" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	text := fmt.Sprintf("there is no context %q in %s", name, dir)
	if near := option.Suggest(name, names); near != "" {
		return text + ": did you mean " + near + "?"
	}
	return text + ": there are " + strings.Join(names, ", ")
}
