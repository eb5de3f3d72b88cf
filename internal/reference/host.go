package reference

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

// DefaultDomain is the registry of references that name none.
const DefaultDomain = "docker.io"

// AnyHost is the pattern of the hosts that no other pattern stands for.
const AnyHost = "*"

// IsHub reports whether image references name Docker Hub by host. Upper case does not matter.
func IsHub(host string) bool {
	switch strings.ToLower(host) {
	case DefaultDomain, "index.docker.io", "registry-1.docker.io":
		return true
	}
	return false
}

// IsHost reports whether text is a host with optional port that keeps the meaning
// of a URL it is put in. It is more lenient than the grammar of references.
func IsHost(text string) bool {
	u, err := url.Parse("https://" + text + "/v2")
	return err == nil && u.Host == text && u.Hostname() != "" && u.User == nil && u.Path == "/v2"
}

// IsPattern reports whether text is a host with optional port, or "*." and one.
func IsPattern(text string) bool {
	name := strings.TrimPrefix(text, "*.")
	return IsHost(name) && !strings.Contains(name, "*") && !strings.HasPrefix(name, ".")
}

// IsLoopback reports whether a host with optional port is this machine, whose
// registries are reached without encryption, as engines do it.
func IsLoopback(host string) bool {
	u := url.URL{Host: host}
	name := strings.ToLower(u.Hostname())
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}

// BaseURL returns where the API of a host is when nothing else is configured:
// "https://{host}/v2", without encryption on this machine.
func BaseURL(host string) string {
	if IsLoopback(host) {
		return "http://" + host + "/v2"
	}
	return "https://" + host + "/v2"
}

// Specificity ranks how well a pattern matches a host; 0 means not at all. The
// exact host ranks highest, then what begins with a name, then the longest
// suffix, then "*". Ranks are even, so that callers can break ties.
func Specificity(h registry.Host, host string) int {
	switch {
	case !h.Serves(host):
		return 0
	case !strings.Contains(h.Pattern, "*"):
		return 1 << 20
	case !strings.HasPrefix(h.Pattern, "*"):
		return 1<<19 + 2*len(h.Pattern)
	}
	return 2 * len(h.Pattern)
}
