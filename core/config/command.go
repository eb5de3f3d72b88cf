package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
)

// reaching are the settings by which a command reaches the Dogwatch that serves; where a
// login is configured it needs the store and the plugins of it as well.
var (
	reaching = []string{"server.host", "server.port", "server.basepath", "server.tls.enabled", "server.tls.key",
		"server.tls.cert"}
	reachingIfLogin = []string{"store.path", "plugins.dir"}
)

// Command returns what a command line that is to reach the Dogwatch with this configuration
// begins with, for a shell: "dogwatch" where the defaults do, and else what leads to
// it, as in "DOGWATCH_SERVER_PORT=3001 dogwatch --config /srv/dogwatch.yaml".
func (c *Config) Command() string {
	var words []string
	paths := reaching
	if c.AuthRequired {
		paths = slices.Concat(reaching, reachingIfLogin)
	}
	for _, path := range paths {
		if source, given := c.sources[path]; given && (isEnv(source) || source == commandLine) {
			words = append(words, EnvName(path)+"="+shellWord(fmt.Sprint(c.values[path])))
		}
	}
	words = append(words, "dogwatch")
	if c.File != "" && !(filepath.IsAbs(c.File) && slices.Contains(defaultFiles, c.File)) {
		name := c.File
		if abs, err := filepath.Abs(name); err == nil {
			name = abs
		}
		words = append(words, "--config", shellWord(name))
	}
	return strings.Join(words, " ")
}

// plainWord matches what a shell takes as it is.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:@%+,-]+$`)

func shellWord(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
