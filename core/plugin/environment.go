package plugin

import (
	"os"

	goplugin "github.com/hashicorp/go-plugin"
)

// passedEnv are the only variables of the host's environment that a plugin
// sees: secrets meant for one plugin must not reach another.
var passedEnv = []string{
	"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "DOCKER_HOST",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// environment is what a bundle's process sees.
func (h *Host) environment(b bundle, c *confinement) []string {
	// A soft memory limit far above the live heap, an eager collector and few
	// threads keep a small process small; see docs/benchmarks.md.
	env := []string{"GOMEMLIMIT=64MiB", "GOMAXPROCS=2", goplugin.EnvUnixSocketDir + "=" + h.runDir}
	if !b.builtin { // a built-in one asks for the eager collector itself, once its packages are set up
		env = append(env, "GOGC=40")
	}
	for _, names := range [][]string{passedEnv, h.opt.Env, b.env} {
		for _, name := range names {
			if v, set := os.LookupEnv(name); set {
				env = append(env, name+"="+v)
			}
		}
	}
	if b.builtin {
		env = append(env, h.opt.Vars[b.name]...) // of two settings the later counts
	}
	return append(env, c.environment()...)
}
