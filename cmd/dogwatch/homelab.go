package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/enginesim"
)

// homelab is a simulated engine and the simulated registries of its images.
type homelab struct {
	engine   *enginesim.Engine
	listener *enginesim.Server
	sites    map[string]*site
	apps     []demoApp
}

// site is a registry and where it listens.
type site struct {
	*registrysim.Registry
	server *registrysim.Server
	// prefix is in front of the names of its images: "ghcr.io/", "" for Docker Hub.
	prefix string
}

// The registries of the homelab.
const (
	hubSite   = "hub"
	ghcrSite  = "ghcr"
	quaySite  = "quay"
	homeSite  = "home"  // the operator's own, which asks for a login
	atticSite = "attic" // one that is out of order
)

const (
	homeUser     = "demo"
	homePassword = "demo-password"
)

// demoApp is one container and what its registry has.
type demoApp struct {
	name, site, repo string
	// tags are in order of age; running is one of them.
	running string
	tags    string
	// rebuilt pushes the running tag anew after it was pulled.
	rebuilt bool
	// next are tags that appear while the demo runs; "=" stands for a rebuild of the running tag.
	next string
	// broken is a tag that fails its health check with the data of the one before.
	broken string
	labels map[string]string
	// id is that of its container.
	id string
}

// repository returns the repository of the app as its registry knows it.
func (a demoApp) repository() string {
	if a.site == hubSite && !strings.Contains(a.repo, "/") {
		return "library/" + a.repo
	}
	return a.repo
}

var demoApps = []demoApp{
	{
		name: "proxy", site: hubSite, repo: "nginx", running: "1.25.3-alpine",
		tags: "1.24.0-alpine 1.25.3-alpine 1.25.5-alpine 1.27.2-alpine 1.27.2 1.27.2-perl latest",
		next: "1.27.3-alpine 1.28.0-alpine",
	},
	{
		name: "database", site: hubSite, repo: "postgres", running: "15.6-bookworm",
		tags: "15.6-bookworm 15.8-bookworm 16.4-bookworm 17.0-alpine 17.0-bookworm 17beta3-bookworm",
		labels: map[string]string{
			"dogwatch.tag.include":   `^15\.`,
			"dogwatch.link.template": "https://www.postgresql.org/docs/release/${major}.${minor}/",
		}, next: "15.9-bookworm",
	},
	{
		name: "cache", site: hubSite, repo: "redis", running: "7.4.1",
		tags: "7.2.4 7.2.6 7.4.0 7.4.1 8.0-M02 7.4-alpine", next: "7.4.2 8.0.0",
	},
	{
		name: "metrics", site: quaySite, repo: "prometheus/prometheus", running: "v2.51.0",
		tags: "v2.50.0 v2.51.0 v2.55.1 v3.0.0-rc.1", next: "v3.0.0",
	},
	{
		name: "alerts", site: quaySite, repo: "prometheus/alertmanager", running: "v0.27.0", tags: "v0.26.0 v0.27.0",
		next: "v0.28.0",
	},
	{
		name: "dashboards", site: hubSite, repo: "grafana/grafana", running: "10.4.2",
		tags: "10.4.2 10.4.10 11.2.2 11.3.0 11.3.0-ubuntu main",
		labels: map[string]string{
			"dogwatch.link.template": "https://github.com/grafana/grafana/releases/tag/v${major}.${minor}.${patch}",
		}, next: "11.3.1",
	},
	{
		name: "home-assistant", site: ghcrSite, repo: "home-assistant/home-assistant", running: "2024.9.3",
		tags: "2024.8.3 2024.9.1 2024.9.3 2024.10.0b2 2024.10.4 stable dev", next: "2024.11.0",
	},
	{
		name: "zigbee", site: ghcrSite, repo: "koenkk/zigbee2mqtt", running: "1.40.2",
		tags: "1.39.1 1.40.1 1.40.2 latest latest-dev",
	},
	{
		name: "broker", site: hubSite, repo: "eclipse-mosquitto", running: "2.0.18",
		tags: "2.0.18 2.0.20 2.0.20-openssl", broken: "2.0.20",
	},
	{
		name: "movies", site: ghcrSite, repo: "linuxserver/radarr", running: "5.11.0.9244-ls240",
		tags: "5.11.0.9244-ls239 5.11.0.9244-ls240 5.14.0.9383-ls245 latest nightly", next: "5.14.0.9383-ls246",
	},
	{name: "music", site: hubSite, repo: "deluan/navidrome", running: "latest", tags: "0.53.3 latest", rebuilt: true},
	{
		name: "photos", site: ghcrSite, repo: "immich-app/immich-server", running: "v1.117.0",
		tags: "v1.116.2 v1.117.0 v1.118.2 v1.119.1 release", next: "v1.120.0",
	},
	{
		name: "documents", site: ghcrSite, repo: "paperless-ngx/paperless-ngx", running: "2.12.1",
		tags: "2.11.6 2.12.1", next: "2.13.0",
	},
	{
		name: "passwords", site: hubSite, repo: "vaultwarden/server", running: "1.32.3-alpine",
		tags: "1.31.0-alpine 1.32.3-alpine 1.32.3 testing",
	},
	{
		name: "dns", site: hubSite, repo: "adguard/adguardhome", running: "v0.107.52",
		tags:   "v0.107.52 v0.107.53 v0.108.0-b.59 edge",
		labels: map[string]string{"diun.exclude_tags": `\.53$;beta`, "diun.max_tags": "10"},
	},
	{
		name: "cloud", site: hubSite, repo: "nextcloud", running: "28-apache",
		tags:   "28-apache 29-apache 30-apache 30-fpm 30-fpm-alpine",
		labels: map[string]string{"dogwatch.display.name": "Nextcloud", "dogwatch.display.icon": "si:nextcloud"},
	},
	{name: "watchdog", site: quaySite, repo: "uptime/monitor", running: "stable", tags: "stable 1.23.15", next: "="},
	{
		name: "shop", site: homeSite, repo: "shop/frontend", running: "3.1.0", tags: "3.0.9 3.1.0 3.2.0", next: "3.2.1",
		labels: map[string]string{"com.docker.compose.project": "shop", "com.docker.compose.service": "frontend"},
	},
	{
		name: "shop-worker", site: homeSite, repo: "shop/worker", running: "edge", tags: "edge", rebuilt: true,
		labels: map[string]string{
			"com.docker.compose.project": "shop", "com.docker.compose.service": "worker",
			"com.docker.compose.depends_on": "frontend:service_started:true", "dogwatch.watch.digest": "true",
		},
	},
	{name: "archive", site: atticSite, repo: "old/archive", running: "1.0.0", tags: "1.0.0 1.1.0"},
	{
		name: "wiki", site: hubSite, repo: "requarks/wiki", running: "2.5.304", tags: "2.5.304 2.5.305",
		labels: map[string]string{"dogwatch.tag.include": `^(2\.\d+`},
	},
}

// demoRules are the labels of the demo that hold updates or have them approved, by container.
var demoRules = map[string]map[string]string{
	"database":       {"dogwatch.policy": "weekend"},
	"home-assistant": {"dogwatch.policy": "careful"},
	"metrics":        {"dogwatch.update.threshold": "minor"},
	"movies":         {"dogwatch.update.minage": "6w"},
	"shop":           {"dogwatch.update": "auto"},
}

// demoPolicies are the policies that those labels name.
func demoPolicies() []string {
	return []string{
		"DOGWATCH_POLICIES_CAREFUL_UPDATE=approve",
		"DOGWATCH_POLICIES_WEEKEND_WINDOW=Sat,Sun 02:00-05:00",
	}
}

// demoSettings are what else the demo sets: its containers may be updated.
func demoSettings() []string {
	return []string{
		"DOGWATCH_WATCHER_DOCKER_HOMELAB_UPDATE=true",
		"DOGWATCH_CHECK_BUDGETS=docker.io=5000/h",
		"DOGWATCH_SCAN_COMMAND=trivy",
	}
}

// openHomelab starts the engine and the registries on free ports of this machine. rules are
// further labels of containers.
func openHomelab(rules map[string]map[string]string) (*homelab, error) {
	lab := &homelab{sites: map[string]*site{}, apps: slices.Clone(demoApps)}
	lab.engine = enginesim.New(enginesim.Config{Writable: true, Pull: lab.pulled, PullTime: pullTime})
	for name, options := range map[string]registrysim.Options{
		hubSite:   {Auth: registrysim.Token, ETags: true, Latency: 30 * time.Millisecond},
		ghcrSite:  {Auth: registrysim.Token, Scopes: registrysim.EveryTarget, PageSize: 100, Latency: 45 * time.Millisecond},
		quaySite:  {Auth: registrysim.Token, ETags: true, Latency: 60 * time.Millisecond},
		homeSite:  {Auth: registrysim.Basic, Users: map[string]string{homeUser: homePassword}, Latency: 5 * time.Millisecond},
		atticSite: {},
	} {
		options.Created, options.Config, options.Size = lab.releases(name, time.Now()), imageOf, sizeOf
		s := &site{Registry: registrysim.New(options)}
		var err error
		if s.server, err = s.Start(); err != nil {
			return nil, errors.Join(err, lab.close())
		}
		lab.sites[name] = s
		_, port, _ := strings.Cut(s.server.Host, ":")
		s.prefix = "localhost:" + port + "/"
	}
	lab.sites[hubSite].prefix, lab.sites[ghcrSite].prefix, lab.sites[quaySite].prefix = "", "ghcr.io/", "quay.io/"
	for i := range lab.apps {
		if err := lab.install(&lab.apps[i], rules[lab.apps[i].name]); err != nil {
			return nil, errors.Join(err, lab.close())
		}
	}
	lab.sites[atticSite].Inject(registrysim.Any, -1,
		registrysim.Status(http.StatusServiceUnavailable, "the disk is full\n", "Content-Type", "text/plain"))
	var err error
	if lab.listener, err = lab.engine.Listen(""); err != nil {
		return nil, errors.Join(err, lab.close())
	}
	return lab, nil
}

// releases spreads what a registry has over the three months before now, the
// last of it a day ago; what appears while the demo runs is of now.
func (l *homelab) releases(site string, now time.Time) func(revision int) time.Time {
	const oldest, youngest = 90 * 24 * time.Hour, 24 * time.Hour
	total := 0
	for _, a := range l.apps {
		if a.site == site {
			total += len(strings.Fields(a.tags))
		}
	}
	now = now.Truncate(time.Second)
	return func(revision int) time.Time {
		if revision > total {
			return now
		}
		return now.Add(-youngest - oldest/time.Duration(total)*time.Duration(total-revision))
	}
}

// versionLabel says the version of an image.
const versionLabel = "org.opencontainers.image.version"

// imageOf is what an image gives to containers. Every third has another user and a volume,
// so that there is something to compare.
func imageOf(repo string, revision int) map[string]any {
	_, name, _ := strings.Cut(repo, "/")
	config := map[string]any{
		"Env":          []string{"PATH=/usr/local/bin:/usr/bin:/bin", fmt.Sprintf("BUILD=%d", 4100+revision)},
		"Entrypoint":   []string{"/usr/bin/" + name},
		"ExposedPorts": map[string]any{"8080/tcp": struct{}{}, "9090/tcp": struct{}{}},
		"Labels":       map[string]string{"org.opencontainers.image.title": name},
	}
	switch version := fmt.Sprintf("1.%d.%d", revision/10, revision%10); repo { // whose tags say no version
	case "uptime/monitor":
		config["Labels"] = map[string]string{versionLabel: version}
	case "shop/worker": // which also says what it may say, and what it may not
		config["Labels"] = map[string]string{
			versionLabel: version, "dogwatch.display.icon": "mdi:cart", "dogwatch.update": "auto",
		}
	}
	if revision%3 == 0 {
		config["User"], config["Volumes"], config["ExposedPorts"] = "app", map[string]any{"/data": struct{}{}},
			map[string]any{"8080/tcp": struct{}{}}
	}
	if !strings.HasPrefix(repo, "prometheus/") { // which have none
		config["Healthcheck"] = map[string]any{
			"Test": []string{"CMD", "/usr/bin/" + name, "status"}, "Interval": checkTime, "Retries": 3,
		}
	}
	return config
}

// sizeOf is how large what is new in an image is, in bytes: 6 to 60 MB.
func sizeOf(repo string, revision int) int64 {
	return int64(6+len(repo)*(7+revision%5)%55) * 1_000_037
}

// What takes its time in the homelab is slow enough to be seen.
const (
	pullTime  = 4 * time.Second
	stopTime  = time.Second
	startTime = 400 * time.Millisecond
	checkTime = 2 * time.Second // between two health checks
)

func (l *homelab) close() error {
	var errs []error
	if l.listener != nil {
		errs = append(errs, l.listener.Close())
	}
	for _, s := range l.sites {
		errs = append(errs, s.server.Close())
	}
	return errors.Join(errs...)
}

// install pushes the images of an app and runs the one it runs, with further labels.
func (l *homelab) install(a *demoApp, rules map[string]string) error {
	s := l.sites[a.site]
	s.Push(a.repository(), strings.Fields(a.tags)...)
	ref, err := l.pull(*a, a.running)
	if err != nil {
		return err
	}
	labels := map[string]string{}
	maps.Copy(labels, a.labels)
	maps.Copy(labels, rules)
	a.labels = labels
	if a.id, err = l.engine.Create(l.containerOf(*a, ref)); err != nil {
		return err
	}
	if a.rebuilt {
		s.Push(a.repository(), a.running)
	}
	return nil
}

// containerOf is what the homelab's owner has set of a container.
func (l *homelab) containerOf(a demoApp, ref string) enginesim.Container {
	port := 18080 + slices.IndexFunc(l.apps, func(other demoApp) bool { return other.name == a.name })
	set := enginesim.Service{
		Env: []string{"TZ=Europe/Berlin"}, Network: "homelab_default", Volumes: []string{"homelab_" + a.name + ":/data"},
		Ports: map[string]string{"8080/tcp": strconv.Itoa(port)},
	}
	return set.Run(enginesim.Container{Name: a.name, Image: ref, Labels: a.labels})
}

// pull gives the engine the image behind a tag and returns its reference.
func (l *homelab) pull(a demoApp, tag string) (string, error) {
	s := l.sites[a.site]
	image, known := s.Image(a.repository(), tag)
	if !known {
		return "", fmt.Errorf("the demo has no image %s:%s", a.repository(), tag)
	}
	ref := s.prefix + a.repo + ":" + tag
	ours, err := l.engineImage(a, image)
	if err != nil {
		return "", err
	}
	ours.Tags = []string{ref}
	l.engine.AddImage(ours)
	return ref, nil
}

// pulled is what the engine pulls, by the reference of a repository and the digest of an image.
func (l *homelab) pulled(repository, digest string) (enginesim.Image, bool) {
	want, err := reference.Parse(repository)
	if err != nil {
		return enginesim.Image{}, false
	}
	for _, a := range l.apps {
		s := l.sites[a.site]
		if ref, err := reference.Parse(s.prefix + a.repo); err != nil || ref.Name() != want.Name() {
			continue
		}
		if image, known := s.Pinned(a.repository(), digest); known {
			ours, err := l.engineImage(a, image)
			return ours, err == nil
		}
	}
	return enginesim.Image{}, false
}

// engineImage is an image of a registry as the engine has it.
func (l *homelab) engineImage(a demoApp, image registrysim.Image) (enginesim.Image, error) {
	s, ours := l.sites[a.site], image.Platforms[0]
	out := enginesim.Image{
		ID: ours.Config, Digests: []string{s.prefix + a.repo + "@" + image.Digest}, Size: ours.Size,
		OS: ours.Platform.OS, Architecture: ours.Platform.Architecture, Created: ours.Created, Labels: ours.Labels,
		Program: enginesim.Program{
			Log: []string{a.name + " is starting", "listening on :8080"}, StartTime: startTime, StopTime: stopTime,
		},
	}
	text, err := json.Marshal(ours.Settings)
	if err == nil {
		err = json.Unmarshal(text, &out.Config)
	}
	if broken, known := s.Image(a.repository(), a.broken); known && broken.Digest == image.Digest {
		out.Program.Log = []string{
			a.name + " is starting", "reading /data/" + a.name + ".db",
			"error: /data/" + a.name + ".db has format 5, and this version reads 6 and later: migrate it first",
			"not listening",
		}
		out.Program.Failure = "connect to 127.0.0.1:8080: connection refused"
	}
	return out, err
}

// environment is the configuration that makes Dogwatch watch the homelab.
func (l *homelab) environment() []string {
	return []string{
		"DOGWATCH_WATCHER_DOCKER_HOMELAB_SOCKET=" + l.listener.Address,
		"DOGWATCH_WATCHER_DOCKER_HOMELAB_CRON=*/15 * * * * *",
		"DOGWATCH_WATCHER_DOCKER_HOMELAB_JITTER=0",
		"DOGWATCH_REGISTRY_HUB_PUBLIC_URL=" + l.sites[hubSite].server.URL,
		"DOGWATCH_REGISTRY_GHCR_PUBLIC_URL=" + l.sites[ghcrSite].server.URL,
		"DOGWATCH_REGISTRY_QUAY_PUBLIC_URL=" + l.sites[quaySite].server.URL,
		"DOGWATCH_REGISTRY_CUSTOM_HOME_URL=http://" + strings.TrimSuffix(l.sites[homeSite].prefix, "/"),
		"DOGWATCH_REGISTRY_CUSTOM_HOME_LOGIN=" + homeUser,
		"DOGWATCH_REGISTRY_CUSTOM_HOME_PASSWORD=" + homePassword,
		"DOGWATCH_REGISTRY_CUSTOM_ATTIC_URL=http://" + strings.TrimSuffix(l.sites[atticSite].prefix, "/"),
		"DOGWATCH_TRIGGER_MOCK_DEMO=true",
	}
}

// live lets a new image appear at every step until ctx ends: a new version, or a tag that is rebuilt.
func (l *homelab) live(ctx context.Context, step time.Duration) {
	tick := time.NewTicker(step)
	defer tick.Stop()
	for round := 0; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.step(round)
		}
	}
}

func (l *homelab) step(round int) {
	var pushes []*demoApp
	for i := range l.apps {
		if a := &l.apps[i]; a.next != "" {
			pushes = append(pushes, a)
		}
	}
	if len(pushes) == 0 {
		return
	}
	a := pushes[round%len(pushes)]
	tag, rest, _ := strings.Cut(a.next, " ")
	l.sites[a.site].Push(a.repository(), strings.Replace(tag, "=", a.running, 1))
	a.next = rest
}
