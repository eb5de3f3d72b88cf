package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The scanners that are known by their name.
const (
	Trivy = "trivy"
	Grype = "grype"
)

// ImagePlaceholder stands in the command of a scanner for the image to scan.
const ImagePlaceholder = "${image}"

// maxScanTime is the longest time that a scan may take.
const maxScanTime = 2 * time.Hour

// Scan is how images are scanned for vulnerabilities; see package scan.
type Scan struct {
	Command     []string      `option:"command" help:"Scanner of images: trivy, grype, or your own command as a list of its words, in which ${image} and ${platform} are replaced and which writes the JSON of one of them; no scans when not set"`
	Timeout     time.Duration `option:"timeout" default:"10m" help:"How long the scan of one image may take"`
	Env         []string      `option:"env" help:"Names of environment variables that the scanner may see besides PATH, HOME, proxies and the like, such as TRIVY_CACHE_DIR"`
	MaxAge      time.Duration `option:"maxage" default:"24h" help:"For how long what was found in an image counts before it is scanned again, when that is asked for"`
	Automatic   bool          `option:"automatic" default:"false" help:"Scan by itself: before an update that a rule has carried out begins, and what is too young to be offered where a rule security is set"`
	Hold        string        `option:"hold" default:"none" choices:"none,critical,high,medium,low" help:"Least severity of vulnerabilities that keep an update from being carried out by a rule when the new image adds some; scan.automatic must be true"`
	Credentials bool          `option:"credentials" default:"false" help:"Let the scanner have the credentials of the registry of the image, in a file that is removed afterwards, for private images"`
}

// Enabled reports whether images can be scanned.
func (s Scan) Enabled() bool { return len(s.Command) > 0 }

// checkScan drops what cannot be understood.
func (l *loader) checkScan(s *Scan) {
	if message, remedy := wrongScanner(s.Command); message != "" {
		l.fault("scan.command", message, remedy)
		s.Command = nil
	}
	if s.Timeout < time.Second || s.Timeout > maxScanTime {
		l.fault("scan.timeout", "want 1s to 2h", "")
		s.Timeout = 10 * time.Minute
	}
	if s.MaxAge < 0 {
		l.fault("scan.maxage", "want a time such as 24h, or 0 to scan each time", "")
		s.MaxAge = 24 * time.Hour
	}
	s.Env = slices.DeleteFunc(s.Env, func(name string) bool {
		if variableForm().MatchString(name) {
			return false
		}
		l.fault("scan.env", fmt.Sprintf("want names of environment variables, got %.40q", name),
			"name them without = and value")
		return true
	})
	switch {
	case s.Hold != "none" && !s.Automatic:
		l.warn("scan.hold", "has no effect: no image is scanned before an update", "set scan.automatic to true")
	case s.Automatic && !s.Enabled():
		l.warn("scan.automatic", "has no effect: there is no scanner", "set scan.command, for example to trivy")
	}
}

// wrongScanner says what is wrong with the command of a scanner; "" when nothing is.
func wrongScanner(command []string) (message, remedy string) {
	const example = "write trivy, grype, or a list of words such as trivy, image, --format, json, " + ImagePlaceholder
	switch {
	case len(command) == 0, len(command) == 1 && (command[0] == Trivy || command[0] == Grype):
		return "", ""
	case len(command) == 1 && strings.Contains(strings.TrimSpace(command[0]), " "):
		return "is one word with spaces, and no shell takes it apart", "write a list, its words separated by commas"
	case strings.Contains(command[0], ImagePlaceholder):
		return "has the image in place of the program", example
	case !slices.ContainsFunc(command[1:], func(word string) bool { return strings.Contains(word, ImagePlaceholder) }):
		return "says nowhere which image is to be scanned: it has no " + ImagePlaceholder, example
	}
	return "", ""
}

// checkSecurity warns of rules about vulnerabilities that nothing looks for.
func (l *loader) checkSecurity() {
	if l.config.Scan.Enabled() {
		return
	}
	warn := func(key string, p Policy) {
		if p.Security != "" && p.Security != "none" {
			l.warn(key+".security", "has no effect: there is no scanner", "set scan.command, for example to trivy")
		}
	}
	warn("policy", l.config.Policy)
	for name, p := range l.config.Policies {
		warn(policiesSection+"."+name, p)
	}
}
