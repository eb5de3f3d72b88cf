package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

const (
	dockerConfigKey = "registries.dockerconfig"
	// noDockerConfig is the value that keeps Docker's file unread.
	noDockerConfig = "none"
	// dockerConfigVariable names the folder of Docker's client
	// (https://docs.docker.com/reference/cli/docker/#environment-variables).
	dockerConfigVariable = "DOCKER_CONFIG"
	dockerConfigFile     = "config.json"
)

// dockerConfig finds the file in which Docker's client keeps credentials, and
// says what keeps it from being used. Without the setting it is where Docker's
// client looks, and needs not exist.
func (l *loader) dockerConfig() {
	path := &l.config.Registries.DockerConfig
	source, missing := l.config.sources[dockerConfigKey], Error
	switch folder, home := l.variable(dockerConfigVariable), l.variable("HOME"); {
	case *path == noDockerConfig:
		*path = ""
		return
	case *path != "":
		if l.open.isFolder(*path) {
			*path = filepath.Join(*path, dockerConfigFile)
		}
	case folder != "":
		*path, source, missing = filepath.Join(folder, dockerConfigFile), "env "+dockerConfigVariable, Warning
	case filepath.IsAbs(home):
		*path = filepath.Join(home, ".docker", dockerConfigFile)
		if !l.open.exists(*path) {
			return
		}
	default:
		return
	}
	level := Error
	data, err := l.open.read(*path, maxFileSize)
	switch {
	case err == nil:
		err = checkDockerConfig(data)
	case !l.open.exists(*path):
		level = missing
	}
	if err != nil {
		l.report(Problem{Key: dockerConfigKey, Source: source, Level: level,
			Message: fmt.Sprintf("the credentials of docker login are not used: %s: %v", *path, err),
			Remedy:  "mend the file, or set " + dockerConfigKey + " to " + noDockerConfig})
	}
}

// checkDockerConfig says what is wrong with what matters of Docker's
// config.json, and nothing of what is in it.
func checkDockerConfig(data []byte) error {
	var c struct {
		Auths map[string]struct {
			Auth, Username, Password, IdentityToken, RegistryToken string
		} `json:"auths"`
		CredHelpers map[string]string `json:"credHelpers"`
		CredsStore  string            `json:"credsStore"`
	}
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &c); {
	case errors.As(err, &syntax):
		return fmt.Errorf("is no JSON (at byte %d)", syntax.Offset)
	case errors.As(err, &shape):
		return fmt.Errorf("is not what Docker writes (at byte %d)", shape.Offset)
	case err != nil:
		return errors.New("is not what Docker writes")
	}
	return nil
}
