package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/budget"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Config is everything the operator asked for.
type Config struct {
	Settings
	// File is the configuration file that was read; "" when there is none.
	File string
	// Components are the configured watchers, registries and triggers: first
	// those of the file in its order, then those of the environment by the names
	// of their variables.
	Components []Component
	// Policies are the named policies, by name.
	Policies map[string]Policy
	// Auth holds the auth.<type>.<name> sections, which are ways to log in.
	Auth []Component
	// AuthRequired reports whether any way to log in but the anonymous one is written,
	// even one that cannot be understood: then every user needs a login.
	AuthRequired bool
	// WUDFile is the name of the file of What's Up Docker in the store folder:
	// wud.json, unless WUD_STORE_FILE says otherwise.
	WUDFile string
	// FromWUD is whether any variable of What's Up Docker is set.
	FromWUD bool
	// Problems are the findings of Load, those in Components excepted.
	Problems []Problem

	values  option.Values     // of the settings
	sources map[string]string // setting → where its value was written
}

// Settings are the host's own options.
type Settings struct {
	Server     Server     `option:"server"`
	Store      Store      `option:"store"`
	Log        Log        `option:"log"`
	Plugins    Plugins    `option:"plugins"`
	Prometheus Prometheus `option:"prometheus"`
	Check      Check      `option:"check"`
	Registries Registries `option:"registries"`
	Labels     Labels     `option:"labels"`
	// Policy is the rules of containers for which nothing else says more.
	Policy   Policy      `option:"policy"`
	Presets  bool        `option:"presets" default:"true" help:"Heed what is known of widely used images: of databases and others no major update is carried out by itself, and none is left out where the vendor demands that; false for none of it"`
	Updates  Updates     `option:"updates"`
	Links    SignedLinks `option:"links"`
	Notes    Notes       `option:"notes"`
	Webhooks Webhooks    `option:"webhooks"`
	Scan     Scan        `option:"scan"`
	Agents   Agents      `option:"agents"`
	Lease    Lease       `option:"lease"`
	// PublicURL is nil when it is not set.
	PublicURL *url.URL `option:"public.url,alias=publicurl" help:"Address under which people reach the server, used in links"`
}

// Server is the HTTP server.
type Server struct {
	Enabled      bool     `option:"enabled" default:"true" help:"Serve the API, the pages and the metrics"`
	Host         string   `option:"host,alias=bind" help:"Address to listen on; all addresses when not set"`
	Port         int      `option:"port" default:"3000" min:"0" max:"65535" help:"Port to listen on; 0 takes any free one"`
	TLS          TLS      `option:"tls"`
	CORS         CORS     `option:"cors"`
	BasePath     string   `option:"basepath" default:"/" help:"Path under which a reverse proxy publishes the server; starts and ends with a slash"`
	Feature      Feature  `option:"feature"`
	MaskAll      bool     `option:"maskall" default:"false" help:"Also hide secrets from logged-in users (or from everyone, while no login is set up)"`
	Metrics      Metrics  `option:"metrics"`
	AllowedHosts []string `option:"allowedhosts" help:"Host names under which the server may be addressed, beside IP addresses and localhost; * for any (others are refused against DNS rebinding)"`
	Frames       []string `option:"frameancestors" help:"Origins of dashboards that may show the pages in a frame, such as https://dash.example.org or http://nas:7575; * for any. All others but the server itself may not (clickjacking)"`
	Trusted      []string `option:"trustedproxies" help:"Addresses or networks of reverse proxies whose X-Forwarded-For, -Proto and -Host are believed, such as 172.18.0.0/16"`
}

// Agents is where agents dial in, beside the address of the pages.
type Agents struct {
	Listen string `option:"listen" help:"Address for agents that dial tcp://HOST:PORT instead of the address of the pages, such as :3443 or 10.0.0.5:3443; none when not set"`
}

// Lease is an object of Kubernetes that one of several Dogwatches holds: the others wait. It is read at the start.
type Lease struct {
	Name       string        `option:"name" help:"Lease of Kubernetes (coordination.k8s.io) without which this Dogwatch waits, so that of several one alone acts; none when not set"`
	Namespace  string        `option:"namespace" help:"Namespace of the lease; that of the pod when not set"`
	Duration   time.Duration `option:"duration" default:"30s" help:"How long after its last renewal another Dogwatch may take the lease: 5s to 10m"`
	Kubeconfig string        `option:"kubeconfig" help:"File that says where the cluster with the lease is; without it the one in which Dogwatch runs"`
}

// Proxies returns the networks of the proxies to trust. What is not an address was reported by Load.
func (s Server) Proxies() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range s.Trusted {
		if p, ok := network(text); ok {
			all = append(all, p)
		}
	}
	return all
}

func network(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), true
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), true
}

// Metrics is who may read the metrics.
type Metrics struct {
	Auth bool `option:"auth" default:"true" help:"Ask for a login at /metrics, once there is one; false opens it to all"`
}

// TLS makes the server speak HTTPS.
type TLS struct {
	Enabled bool   `option:"enabled" default:"false" help:"Serve HTTPS"`
	Key     string `option:"key" help:"File of the private key (PEM)"`
	Cert    string `option:"cert" help:"File of the certificate chain (PEM)"`
}

// CORS lets pages of other sites read the API.
type CORS struct {
	Enabled bool     `option:"enabled" default:"false" help:"Let pages of other origins use the API"`
	Origin  string   `option:"origin" default:"*" help:"Origin that may use the API from a browser; * for any"`
	Methods []string `option:"methods" default:"GET,HEAD,PUT,PATCH,POST,DELETE" help:"The methods it may use"`
}

// Feature switches parts of the API.
type Feature struct {
	Delete bool `option:"delete" default:"true" help:"Let the API forget a container"`
}

// Store is where Dogwatch remembers. After Load no field is empty.
type Store struct {
	Path string `option:"path" help:"Folder of the database, ~/ for one in the home folder; /store when it exists, else dogwatch in the user's data folder"`
	File string `option:"file" default:"dogwatch.db" help:"Name of the database file in it"`
}

// Source returns where a value was written, by the path of its setting, of a rule of a
// policy, or of an option: "dogwatch.yaml:12"; "" for what was not written.
func (c *Config) Source(path string) string {
	if source, given := c.sources[path]; given {
		return source
	}
	for _, component := range slices.Concat(c.Components, c.Auth) {
		if name, ok := strings.CutPrefix(path, component.Key()+"."); ok {
			return component.Options[name].Source
		}
	}
	return ""
}

// StoreFile returns the path of the database.
func (c *Config) StoreFile() string { return filepath.Join(c.Store.Path, c.Store.File) }

// Log is what is logged and how.
type Log struct {
	Level  string   `option:"level" default:"info" choices:"trace,debug,info,warn,error,fatal" help:"Least severe level that is logged; fatal means error"`
	Levels []string `option:"levels" help:"Levels of single parts, as name=level: check=debug"`
	Format string   `option:"format" default:"text" choices:"text,json" help:"How a line is written"`
}

// Plugins are the executables of third parties. After Load Dir is not empty.
type Plugins struct {
	Dir   string `option:"dir" help:"Folder of plugin executables; plugins in the store folder when not set"`
	Trust string `option:"trust" default:"first-use" choices:"first-use,pinned" help:"Which executables run: first-use remembers a file when it is first seen and refuses it once it changes, pinned runs only those in checksums"`
	// Pins and Granted are written as lists of name=value; see Checksums and Grants.
	Pins    []string `option:"checksums" help:"SHA-256 of executables, as name=checksum"`
	Granted []string `option:"grants" help:"Capabilities given to executables, as name=capability: credentials, engine, files, operate, run, decide"`
	Env     []string `option:"env" help:"Names of environment variables that plugins may see"`
	// Isolated, Opened and RunAs are about what the system lets executables do; see Paths and User.
	Isolated bool     `option:"isolated" default:"true" help:"Let executables reach only the network, their own folder, what their options name and what programs need of the system, where the kernel can (Linux)"`
	Opened   []string `option:"paths" help:"Further folders and files that executables may read and write, as name=/path"`
	RunAs    string   `option:"user" help:"User that executables run as when Dogwatch is root, as a name, a number or number:group; not set, each runs as a user of its own, whom no system has, and with 0 they run as root"`
	// Limited are what executables may use; see Limits.
	Limited []string `option:"limits" help:"What an executable may use with all that it starts: memory (256MB when not set), processes (256), temp for its temporary files (64MB), cpu in processors (no limit), as memory=512MB, or trigger-lamp:memory=512MB for one; 0 is no limit; memory and cpu need a control group, see docs/plugins.md"`
	// Gallery is an https:// address after Load.
	Gallery *url.URL `option:"gallery" default:"https://github.com/dogwatch/dogwatch/releases/latest/download/gallery.json" help:"Where the newest index of the gallery of plugins is, which is asked only when you ask for it: an https:// address"`
	// Sleep is about built-in plugins.
	Sleep time.Duration `option:"sleep" default:"5m" help:"How long the built-in registries, or triggers, have nothing to do before their process ends until they are needed again; 0 for never"`
	// Installs are written as texts of name=value pairs; see Declared.
	Installs []string `option:"install" help:"Plugins that are installed at the start where they are missing, or other than this: each with name, ref (an artifact in a registry, or an https:// address), and if need be digest (sha256:...), key (of the publisher, or its file) and grants (capabilities); in the environment as name=lamp ref=ghcr.io/me/lamp:1.0"`
}

// Checksums returns the pinned SHA-256 of executables, in lower-case hexadecimal, by file name.
func (p Plugins) Checksums() map[string]string {
	sums := map[string]string{}
	for _, pin := range p.Pins {
		name, sum, _ := strings.Cut(pin, "=")
		sums[name] = strings.ToLower(sum)
	}
	return sums
}

// Paths returns the folders and files opened to executables, by file name.
func (p Plugins) Paths() map[string][]string {
	paths := map[string][]string{}
	for _, opened := range p.Opened {
		name, path, _ := strings.Cut(opened, "=")
		paths[name] = append(paths[name], path)
	}
	return paths
}

// User returns the numbers of the user that executables run as, and of the group; set is false when there is none.
func (p Plugins) User() (uid, gid uint32, set bool, err error) {
	if p.RunAs == "" {
		return 0, 0, false, nil
	}
	name, group, _ := strings.Cut(p.RunAs, ":")
	id, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		known, err := user.Lookup(name)
		if err != nil {
			return 0, 0, false, fmt.Errorf("no user is called %q here", name)
		}
		name = known.Uid
		group = cmp.Or(group, known.Gid)
		if id, err = strconv.ParseUint(name, 10, 32); err != nil {
			return 0, 0, false, errors.New("users have no numbers on this system")
		}
	}
	owner := id // of a number without a group
	if group != "" {
		if owner, err = strconv.ParseUint(group, 10, 32); err != nil {
			return 0, 0, false, fmt.Errorf("want the number of a group after the colon, got %q", group)
		}
	}
	return uint32(id), uint32(owner), true, nil
}

// Grants returns the capabilities that the configuration gives to executables (see
// Grantable), by file name.
func (p Plugins) Grants() map[string][]string {
	grants := map[string][]string{}
	for _, g := range p.Granted {
		name, capability, _ := strings.Cut(g, "=")
		grants[name] = append(grants[name], strings.ToLower(capability))
	}
	for _, i := range p.Declared() {
		if len(i.Grants) > 0 {
			grants[i.Name] = append(grants[i.Name], i.Grants...)
		}
	}
	return grants
}

// Prometheus is the metrics endpoint.
type Prometheus struct {
	Enabled bool `option:"enabled" default:"true" help:"Collect metrics and serve them at /metrics"`
	WUD     bool `option:"wud" default:"true" help:"Also serve them under the names of What's Up Docker, for existing dashboards"`
}

// Check bounds the questions to registries.
type Check struct {
	PerHost int           `option:"perhost" default:"16" min:"1" max:"64" help:"The most questions to one registry host at a time; it begins with 8 and gets as many as it answers without becoming slower"`
	Total   int           `option:"total" default:"64" min:"1" max:"256" help:"The most questions to all registries at a time"`
	Timeout time.Duration `option:"timeout" default:"30s" help:"How long one question may take"`
	// Budgets are read by Allowances.
	Budgets []string `option:"budgets" help:"Limit of requests per registry host, such as registry.example.org=1000/h; a check that needs more continues later"`
	// Floating is about containers whose labels do not say.
	Floating bool `option:"floating" default:"true" help:"Watch the digest behind versions that float, such as 16-alpine where there is 16.4-alpine; the label dogwatch.watch.digest decides for one container"`
}

// Allowances returns the Budgets by host. What Load has reported of them is left out.
func (c Check) Allowances() map[string]budget.Allowance {
	all := map[string]budget.Allowance{}
	for _, text := range c.Budgets {
		if host, a, err := budget.Parse(text); err == nil {
			all[host] = a
		}
	}
	return all
}

// Labels is which labels of containers count.
type Labels struct {
	Foreign bool `option:"foreign" default:"false" help:"Heed the labels of Diun (diun.*), Drydock (dd.*), Watchtower (com.centurylinklabs.watchtower.*) and Keel (keel.sh/*), too, where no dogwatch.* or wud.* label says otherwise"`
	// Image is read by package label.
	Image string `option:"image" default:"descriptive" choices:"descriptive,all,none" help:"What the labels of images may say: descriptive (how tags read, how it looks, a probe of its own container, and what tightens your rules), all (as much as those of the container, for who builds all images), or none"`
}

// Updates are the updates that are carried out by rule, or since a user approved them.
type Updates struct {
	AtOnce int `option:"atonce" default:"2" min:"1" max:"20" help:"How many updates that rules ask for, or users have approved, run at once; of one stack always one"`
	// Preload is zero for not at all.
	Preload time.Duration `option:"preload" default:"0s" help:"How long before a window opens the images are pulled of the updates that are carried out then, such as 1h; 0 for not before it opens"`
}

// SignedLinks are the signed links of messages; see package signedlink.
type SignedLinks struct {
	Enabled bool          `option:"enabled" default:"true" help:"Send links in messages with which their reader approves, skips or snoozes an update, once, without a login; public.url must be set"`
	Expiry  time.Duration `option:"expiry" default:"168h" help:"How long a link in a message is valid"`
}

// Registries are the settings of all registries together. After Load
// DockerConfig is a file, which may not exist, or "" when none is to be read.
type Registries struct {
	DockerConfig string `option:"dockerconfig" help:"File or folder of Docker's config.json: its credentials, also those behind credential helpers, serve registries that have none of their own. Without it the file is looked for where Docker's client does: in the folder DOCKER_CONFIG, else in .docker of the home folder; none reads no file"`
}

// Component is a watcher, registry or trigger as it was written.
type Component struct {
	Kind kind.Kind
	// Type and Name are lower case; Type has a-z and 0-9, Name also "-".
	Type, Name string
	// Options are the values by dotted option name ("tls.verify").
	Options map[string]Value
	// Problems are what is already known to be wrong with it, such as an unreadable secret file.
	Problems []Problem
}

// ID returns "smtp.main".
func (c Component) ID() string { return c.Type + "." + c.Name }

// Same reports whether another section says the same, wherever it is written.
func (c Component) Same(other Component) bool {
	return c.Key() == other.Key() &&
		maps.EqualFunc(c.Options, other.Options, func(a, b Value) bool { return reflect.DeepEqual(a.V, b.V) }) &&
		slices.EqualFunc(c.Problems, other.Problems, func(a, b Problem) bool {
			return a.Key == b.Key && a.Message == b.Message
		})
}

// Key returns "trigger.smtp.main".
func (c Component) Key() string { return string(c.Kind) + "." + c.ID() }

// Value is one value and the place where it was written.
type Value struct {
	// V is a string or, for a list, a []string; from the command line it may be any scalar.
	V any
	// Source is "dogwatch.yaml:12", "env DOGWATCH_TRIGGER_SMTP_MAIN_HOST", "file
	// /run/secrets/x (env …)" or "command line". It never holds the value.
	Source string

	problem *Problem // why there is no value
}
