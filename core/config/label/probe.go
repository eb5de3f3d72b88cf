package label

import (
	"net/url"
	"strconv"
	"strings"
)

// IsOwnProbe reports whether an address, as the value of ProbeHTTP or ProbeTCP, is a port of the container
// itself: ":5432", ":8080/health" or, as the operator writes it, "http://:8080/health".
func IsOwnProbe(name, text string) bool {
	text = strings.TrimSpace(text)
	if name == ProbeTCP {
		port, found := strings.CutPrefix(text, ":")
		return found && isPort(port)
	}
	u, err := url.Parse(HTTPProbe(text))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.Hostname() == "" &&
		strings.HasPrefix(u.Host, ":") && isPort(u.Port())
}

// HTTPProbe returns the address of a probe that may be written without scheme and host, as
// ":8080/health".
func HTTPProbe(text string) string {
	if strings.HasPrefix(text, ":") {
		return "http://" + text
	}
	return text
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}
