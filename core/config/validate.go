package config

import (
	"cmp"
	"fmt"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/webaddress"
)

// storeFolder is the folder of the database in a container.
const storeFolder = "/store"

// complete fills in the defaults that depend on the machine.
func (l *loader) complete() {
	s := &l.config.Settings
	l.expandHome()
	l.dockerConfig()
	if s.Store.Path == "" {
		s.Store.Path = l.dataFolder()
	}
	if s.Store.Path == "" {
		l.fault("store.path",
			"there is no folder for data: "+storeFolder+" does not exist, and neither XDG_DATA_HOME nor HOME is set", "set it")
	}
	s.Plugins.Dir = cmp.Or(s.Plugins.Dir, filepath.Join(s.Store.Path, "plugins"))
	s.Server.BasePath = path.Clean("/"+s.Server.BasePath) + "/"
	if s.Server.BasePath == "//" {
		s.Server.BasePath = "/"
	}
}

func (l *loader) dataFolder() string {
	data, home := l.variable("XDG_DATA_HOME"), l.variable("HOME")
	switch {
	case l.open.isFolder(storeFolder):
		return storeFolder
	case filepath.IsAbs(data):
		return filepath.Join(data, "dogwatch")
	case filepath.IsAbs(home):
		return filepath.Join(home, ".local", "share", "dogwatch")
	}
	return ""
}

func (l *loader) fault(key, message, remedy string) {
	l.report(Problem{Key: key, Source: l.config.sources[key], Message: message, Remedy: remedy, Level: Error})
}

func (l *loader) warn(key, message, remedy string) {
	l.report(Problem{Key: key, Source: l.config.sources[key], Message: message, Remedy: remedy, Level: Warning})
}

var (
	hostForm     = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)
	checksumForm = lazyregexp.New(`^[^=/\\]+=[0-9A-Fa-f]{64}$`)
	variableForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func isHost(text string) bool { return net.ParseIP(text) != nil || hostForm().MatchString(text) }

// isOrigin reports whether a text is the origin of web pages, of one host or
// with "*." of all below one (CSP Level 3, section 2.3.1, host-source).
func isOrigin(text string) bool {
	scheme, rest, _ := strings.Cut(text, "://")
	host, port, hasPort := strings.Cut(rest, ":")
	if strings.HasPrefix(rest, "[") { // an IPv6 address
		host, port, _ = strings.Cut(strings.TrimPrefix(rest, "["), "]")
		if port, hasPort = strings.CutPrefix(port, ":"); !hasPort && port != "" || net.ParseIP(host) == nil {
			return false
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); hasPort && err != nil {
		return false
	}
	return (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) &&
		isHost(strings.TrimPrefix(host, "*."))
}

// objectForm is a DNS subdomain, as names of objects of Kubernetes are.
var objectForm = lazyregexp.New(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)

// checkLease looks at the lease. One whose name is wrong stays: without it two Dogwatches would act.
func (l *loader) checkLease(s *Lease) {
	for key, name := range map[string]string{"lease.name": s.Name, "lease.namespace": s.Namespace} {
		if name != "" && !objectForm().MatchString(name) {
			l.fault(key, fmt.Sprintf("want small letters, digits, hyphens and dots, got %.70q", name), "")
		}
	}
	if s.Duration < 5*time.Second || s.Duration > 10*time.Minute {
		l.fault("lease.duration", "want 5s to 10m", "")
		s.Duration = 30 * time.Second
	}
	if s.Name == "" && (s.Namespace != "" || s.Kubeconfig != "") {
		l.warn("lease.name", "is not set, so that there is no lease", "set it, or leave out the other settings of lease")
	}
}

// maxLinkExpiry bounds for how long who has a link can use it.
const maxLinkExpiry = 90 * 24 * time.Hour

// checkSettings looks at what a schema cannot say.
func (l *loader) checkSettings() {
	l.checkServer(&l.config.Server)
	l.checkPlugins(l.config.Plugins)
	s := &l.config.Settings
	if name := s.Store.File; filepath.Base(name) != name || name == "." || name == ".." {
		l.fault("store.file", fmt.Sprintf("want the name of a file without a folder, got %q", name),
			"write the folder to store.path")
	} else if strings.EqualFold(name, "wud.json") {
		l.fault("store.file", "wud.json belongs to What's Up Docker", "choose another name")
	}
	if u := s.PublicURL; u != nil && (!webaddress.Is(u) || u.RawQuery != "" || u.Fragment != "") {
		l.fault("public.url", "want an http or https address without a query", "")
		s.PublicURL = nil
	}
	if s.Check.Timeout < time.Second {
		l.fault("check.timeout", "want at least 1s", "")
		s.Check.Timeout = 30 * time.Second
	}
	given := map[string]bool{}
	s.Check.Budgets = slices.DeleteFunc(s.Check.Budgets, func(text string) bool {
		host, _, err := budget.Parse(text)
		switch {
		case err != nil:
			l.fault("check.budgets", err.Error(), "")
		case given[host]:
			l.fault("check.budgets", fmt.Sprintf("%s has more than one budget", host), "leave one of them")
		default:
			given[host] = true
			return false
		}
		return true
	})
	if s.Agents.Listen != "" {
		if _, port, err := net.SplitHostPort(s.Agents.Listen); err != nil || port == "" {
			l.fault("agents.listen", fmt.Sprintf("want an address with a port, got %q", s.Agents.Listen), "for example :3443")
			s.Agents.Listen = ""
		}
	}
	l.checkLease(&s.Lease)
	l.checkNotes(&s.Notes)
	l.checkWebhooks(&s.Webhooks)
	l.checkScan(&s.Scan)
	if s.Links.Expiry < time.Minute || s.Links.Expiry > maxLinkExpiry {
		l.fault("links.expiry", "want 1m to 2160h (90 days)", "")
		s.Links.Expiry = 7 * 24 * time.Hour
	}
	s.Log.Levels = slices.DeleteFunc(s.Log.Levels, func(entry string) bool {
		name, level, _ := strings.Cut(entry, "=")
		o, _ := l.schema.Find("log.level")
		if name != "" && slices.Contains(o.Choices, strings.ToLower(level)) {
			return false
		}
		l.fault("log.levels", fmt.Sprintf("want name=level, got %q", entry), "for example check=debug")
		return true
	})
}

func (l *loader) checkServer(s *Server) {
	if s.Host != "" && !isHost(s.Host) {
		l.fault("server.host", fmt.Sprintf("want an address without scheme or port, got %q", s.Host), "")
	}
	for _, h := range s.AllowedHosts {
		if h != "*" && !isHost(h) {
			l.fault("server.allowedhosts", fmt.Sprintf("want host names without scheme or port, got %q", h), "")
		}
	}
	s.Frames = slices.DeleteFunc(s.Frames, func(text string) bool {
		if text == "*" || isOrigin(text) {
			return false
		}
		l.fault("server.frameancestors", fmt.Sprintf("want origins such as https://dash.example.org, got %q", text),
			"write scheme, host and port, without a path")
		return true
	})
	for _, text := range s.Trusted {
		if _, ok := network(text); !ok {
			l.fault("server.trustedproxies", fmt.Sprintf("want addresses or networks such as 172.18.0.0/16, got %q", text), "")
		}
	}
	if strings.ContainsAny(s.BasePath, "?#% ") {
		l.fault("server.basepath", fmt.Sprintf("want a path such as /dogwatch/, got %q", s.BasePath), "")
	}
	for _, f := range []struct{ key, name string }{{"server.tls.key", s.TLS.Key}, {"server.tls.cert", s.TLS.Cert}} {
		switch {
		case !s.TLS.Enabled && f.name != "":
			l.warn(f.key, "has no effect: the server speaks plain HTTP", "set server.tls.enabled to true")
		case s.TLS.Enabled && f.name == "":
			l.fault(f.key, "is required when server.tls.enabled is true", "")
		case s.TLS.Enabled:
			if _, err := l.open.read(f.name, maxFileSize); err != nil {
				l.fault(f.key, f.name+": "+err.Error(), "")
			}
		}
	}
}

func (l *loader) checkPlugins(p Plugins) {
	for _, pin := range p.Pins {
		if !checksumForm().MatchString(pin) {
			l.fault("plugins.checksums", fmt.Sprintf("want name=SHA-256 in 64 hexadecimal digits, got %q", pin),
				"dogwatch plugin checksum FILE prints it")
		}
	}
	for _, grant := range p.Granted {
		name, capability, _ := strings.Cut(grant, "=")
		if name == "" || !slices.Contains(Grantable(), strings.ToLower(capability)) {
			l.fault("plugins.grants", fmt.Sprintf("want name=capability, got %q", grant),
				"the capabilities are "+strings.Join(Grantable(), ", "))
		}
	}
	for _, opened := range p.Opened {
		if name, path, _ := strings.Cut(opened, "="); name == "" || !filepath.IsAbs(path) {
			l.fault("plugins.paths", fmt.Sprintf("want name=/path with an absolute path, got %q", opened),
				"name the file of the plugin, as in trigger-file=/var/log/updates")
		}
	}
	if _, _, _, err := p.User(); err != nil {
		l.fault("plugins.user", err.Error(), "want a name, a number such as 65534, or number:group")
	}
	for _, limit := range p.Limited {
		if _, _, err := parseLimit(limit); err != nil {
			l.fault("plugins.limits", err.Error(), "")
		}
	}
	if g := p.Gallery; g != nil && (g.Scheme != "https" || g.Host == "" || g.User != nil) {
		l.fault("plugins.gallery", "want an address that starts with https://, without a user", "")
	}
	l.checkInstalls(p)
	for _, name := range p.Env {
		if !variableForm().MatchString(name) {
			l.fault("plugins.env", fmt.Sprintf("want names of environment variables, got %q", name), "")
		}
	}
}
