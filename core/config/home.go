package config

import (
	"path/filepath"
	"strings"
)

// variable returns the value of an environment variable; "" when it is not set.
func (l *loader) variable(name string) string {
	for _, v := range l.environ {
		if key, value, _ := strings.Cut(v, "="); key == name {
			return value
		}
	}
	return ""
}

// expandHome replaces a leading ~ in the settings that hold a path, as a shell
// does where the value is not in quotation marks.
func (l *loader) expandHome() {
	s := &l.config.Settings
	for key, path := range map[string]*string{
		"store.path": &s.Store.Path, "plugins.dir": &s.Plugins.Dir, dockerConfigKey: &s.Registries.DockerConfig,
		"server.tls.key": &s.Server.TLS.Key, "server.tls.cert": &s.Server.TLS.Cert,
	} {
		rest, tilde := strings.CutPrefix(*path, "~")
		if !tilde {
			continue
		}
		home := l.variable("HOME")
		switch {
		case rest != "" && rest[0] != '/':
			l.fault(key, "only ~/ is replaced, by the home folder of the user that runs Dogwatch", "write the whole path")
		case !filepath.IsAbs(home):
			l.fault(key, "~ stands for the home folder, and HOME is not set", "write the whole path")
		default:
			*path = filepath.Join(home, rest)
			l.config.values[key] = *path
		}
	}
}
