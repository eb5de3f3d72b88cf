package podman

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-units"
)

// Spec is a container to be created: SpecGenerator in pkg/specgen/specgen.go of https://github.com/containers/podman,
// as far as it is used here.
type Spec struct {
	Name          string            `json:"name"`
	Image         string            `json:"image"`
	Pod           string            `json:"pod,omitempty"`
	CreateCommand []string          `json:"containerCreateCommand,omitempty"`
	Entrypoint    []string          `json:"entrypoint,omitempty"`
	Command       []string          `json:"command,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	UnsetEnv      []string          `json:"unsetenv,omitempty"`
	Terminal      bool              `json:"terminal,omitempty"`
	Stdin         bool              `json:"stdin,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	WorkDir       string            `json:"work_dir,omitempty"`
	User          string            `json:"user,omitempty"`
	Groups        []string          `json:"groups,omitempty"`
	Hostname      string            `json:"hostname,omitempty"`
	Timezone      string            `json:"timezone,omitempty"`
	Umask         string            `json:"umask,omitempty"`
	StopSignal    int               `json:"stop_signal,omitempty"`
	StopTimeout   uint              `json:"stop_timeout"`
	Timeout       uint              `json:"timeout,omitempty"`
	Restart       string            `json:"restart_policy,omitempty"`
	RestartTries  uint              `json:"restart_tries,omitempty"`
	Systemd       string            `json:"systemd,omitempty"`
	SDNotify      string            `json:"sdnotifyMode,omitempty"`
	Init          bool              `json:"init,omitempty"`
	Log           logging           `json:"log_configuration"`

	Health       *container.HealthConfig `json:"healthconfig,omitempty"`
	HealthAction int                     `json:"health_check_on_failure_action,omitempty"`

	PID      *namespace         `json:"pidns,omitempty"`
	UTS      *namespace         `json:"utsns,omitempty"`
	IPC      *namespace         `json:"ipcns,omitempty"`
	Net      *namespace         `json:"netns,omitempty"`
	Networks map[string]network `json:"Networks,omitempty"`
	Ports    []port             `json:"portmappings,omitempty"`
	DNS      []string           `json:"dns_server,omitempty"`
	Search   []string           `json:"dns_search,omitempty"`
	Options  []string           `json:"dns_option,omitempty"`
	Hosts    []string           `json:"hostadd,omitempty"`
	NoHosts  bool               `json:"use_image_hosts,omitempty"`

	Mounts       []mount           `json:"mounts,omitempty"`
	Volumes      []volume          `json:"volumes,omitempty"`
	ImageMounts  []imageMount      `json:"image_volumes,omitempty"`
	ImageVolumes string            `json:"image_volume_mode"`
	ShmSize      int64             `json:"shm_size,omitempty"`
	Devices      []device          `json:"devices,omitempty"`
	Secrets      []secret          `json:"secrets,omitempty"`
	EnvSecrets   map[string]string `json:"secret_env,omitempty"`

	Privileged    bool     `json:"privileged,omitempty"`
	CapAdd        []string `json:"cap_add,omitempty"`
	CapDrop       []string `json:"cap_drop,omitempty"`
	NoNewPrivs    bool     `json:"no_new_privileges,omitempty"`
	SELinux       []string `json:"selinux_opts,omitempty"`
	Seccomp       string   `json:"seccomp_profile_path,omitempty"`
	ReadOnly      bool     `json:"read_only_filesystem,omitempty"`
	WritableTmpfs bool     `json:"read_write_tmpfs"` // its mounts are among Mounts

	Sysctl       map[string]string `json:"sysctl,omitempty"`
	CgroupParent string            `json:"cgroup_parent,omitempty"`
	Resources    resources         `json:"resource_limits"`
	Ulimits      []rlimit          `json:"r_limits,omitempty"`
	OOMScore     *int              `json:"oom_score_adj,omitempty"`
}

type (
	logging struct {
		Driver  string            `json:"driver,omitempty"`
		Size    int64             `json:"size,omitempty"`
		Options map[string]string `json:"options,omitempty"`
	}
	namespace struct {
		Mode  string `json:"nsmode"`
		Value string `json:"value,omitempty"`
	}
	network struct {
		Aliases []string `json:"aliases,omitempty"`
		IPs     []string `json:"static_ips,omitempty"`
		MAC     string   `json:"static_mac,omitempty"`
	}
	port struct {
		HostIP    string `json:"host_ip,omitempty"`
		Container uint16 `json:"container_port"`
		Host      uint16 `json:"host_port,omitempty"`
		Protocol  string `json:"protocol,omitempty"`
	}
	mount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type"`
		Source      string   `json:"source"`
		Options     []string `json:"options,omitempty"`
	}
	volume struct {
		Name    string
		Dest    string
		Options []string `json:",omitempty"`
	}
	imageMount struct {
		Source, Destination string
		ReadWrite           bool
	}
	device struct {
		Path string `json:"path"` // as the value of --device
	}
	secret struct {
		Source, Target string
		UID, GID, Mode uint32
	}
	// resources has nothing where nothing is set: Podman takes each part for set that is there.
	resources struct {
		CPU    *cpu    `json:"cpu,omitempty"`
		Memory *memory `json:"memory,omitempty"`
		Pids   *pids   `json:"pids,omitempty"`
	}
	cpu struct {
		Shares uint64 `json:"shares,omitempty"`
		Period uint64 `json:"period,omitempty"`
		Quota  int64  `json:"quota,omitempty"`
		CPUs   string `json:"cpus,omitempty"`
		Mems   string `json:"mems,omitempty"`
	}
	memory struct {
		Limit       int64   `json:"limit,omitempty"`
		Reservation int64   `json:"reservation,omitempty"`
		Swap        int64   `json:"swap,omitempty"`
		Swappiness  *uint64 `json:"swappiness,omitempty"`
		NoKill      bool    `json:"disableOOMKiller,omitempty"`
	}
	pids struct {
		Limit int64 `json:"limit"`
	}
	rlimit struct {
		Type string `json:"type"`
		Hard uint64 `json:"hard"`
		Soft uint64 `json:"soft"`
	}
)

// Make returns the container called name that takes the place of c with an image. Of config it takes what the user
// set, without what the old image set; health is the whole health check, nil for that of the image.
func Make(c Container, name, image string, config *container.Config, health *container.HealthConfig) Spec {
	flags, seen := commandOf(c.Config.CreateCommand)
	h := c.HostConfig
	s := Spec{
		Name: name, Image: image, Pod: c.Pod, CreateCommand: c.Config.CreateCommand,
		Entrypoint: config.Entrypoint, Command: config.Cmd,
		Env: environment(config.Env, c.Config.Hostname), UnsetEnv: flags["unsetenv"],
		Terminal: c.Config.Tty, Stdin: c.Config.OpenStdin, Labels: config.Labels, Annotations: annotations(c),
		WorkDir: config.WorkingDir, User: config.User, Groups: h.GroupAdd, Hostname: config.Hostname,
		Timezone: c.Config.Timezone, Umask: c.Config.Umask, StopTimeout: c.Config.StopTimeout, Timeout: c.Config.Timeout,
		Restart: h.RestartPolicy.Name, RestartTries: h.RestartPolicy.MaximumRetryCount,
		Systemd: flags.last("systemd"), SDNotify: c.Config.SDNotifyMode, Init: h.Init, Log: c.logging(),
		Health: health, HealthAction: healthActions()[c.Config.HealthcheckOnFailureAction],
		DNS: h.DNS, Search: h.DNSSearch, Options: h.DNSOptions, Hosts: h.ExtraHosts, NoHosts: flags.on("no-hosts"),
		ImageVolumes: "anonymous", Privileged: h.Privileged, ReadOnly: h.ReadonlyRootfs,
		CgroupParent: flags.last("cgroup-parent"),
	}
	if seen { // Podman tells the name of the host, or of the pod, too
		s.Hostname = flags.last("hostname")
	}
	if len(flags["shm-size"]) > 0 {
		s.ShmSize = h.ShmSize
	}
	if len(flags["oom-score-adj"]) > 0 {
		s.OOMScore = &h.OomScoreAdj
	}
	if len(flags["stop-signal"]) > 0 || !seen && config.StopSignal != defaultSignal {
		s.StopSignal, _ = strconv.Atoi(config.StopSignal) // which Podman tells as a number
	}
	for _, pair := range flags["sysctl"] {
		for one := range strings.SplitSeq(pair, ",") {
			if key, value, found := strings.Cut(one, "="); found {
				s.set(&s.Sysctl, key, value)
			}
		}
	}
	s.namespaces(c, flags)
	s.connect(c, flags)
	s.mount(c)
	s.secure(c, flags, seen)
	s.limit(c, flags)
	for _, value := range flags["secret"] {
		s.secret(value)
	}
	return s
}

// defaultSignal is SIGTERM, as Podman tells it.
const defaultSignal = "15"

func (s *Spec) set(all *map[string]string, key, value string) {
	if *all == nil {
		*all = map[string]string{}
	}
	(*all)[key] = value
}

// environment leaves out what Podman gives to each container by itself.
func environment(list []string, hostname string) map[string]string {
	all := map[string]string{}
	for _, e := range list {
		switch e {
		case "container=podman", "TERM=xterm", "HOSTNAME=" + hostname, "HOME=/root", "HOME=/",
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin":
			continue
		}
		name, value, _ := strings.Cut(e, "=")
		all[name] = value
	}
	return all
}

// annotations leaves out those that Podman writes by itself.
func annotations(c Container) map[string]string {
	all := map[string]string{}
	for name, value := range c.Config.Annotations {
		switch name {
		case "io.kubernetes.cri-o.TTY", "io.podman.annotations.label", "io.podman.annotations.seccomp":
			all[name] = value // which the command writes, and not the API
		default:
			if !ownAnnotation(name) {
				all[name] = value
			}
		}
	}
	return all
}

func ownAnnotation(name string) bool {
	return strings.HasPrefix(name, "io.podman.annotations.") || strings.HasPrefix(name, "io.kubernetes.cri-o.") ||
		strings.HasPrefix(name, "org.opencontainers.image.")
}

// healthActions are the numbers of HealthCheckOnFailureAction in libpod/define/healthchecks.go.
func healthActions() map[string]int { return map[string]int{"kill": 2, "restart": 3, "stop": 4} }

func (c Container) logging() logging {
	has := c.HostConfig.LogConfig
	l := logging{Driver: has.Type}
	if size, err := units.FromHumanSize(has.Size); err == nil {
		l.Size = size
	}
	if has.Tag != "" {
		l.Options = map[string]string{"tag": has.Tag}
	}
	return l
}

// namespaces says what the container shares with others; in a pod the pod says that.
func (s *Spec) namespaces(c Container, flags command) {
	of := func(mode string) *namespace {
		if id, found := strings.CutPrefix(mode, "container:"); found {
			if c.Pod != "" {
				return nil
			}
			return &namespace{"container", id}
		}
		if path, found := strings.CutPrefix(mode, "ns:"); found {
			return &namespace{"path", path}
		}
		if mode == "" {
			return nil
		}
		return &namespace{Mode: mode}
	}
	s.PID, s.UTS, s.Net = of(c.HostConfig.PidMode), of(c.HostConfig.UTSMode), of(c.HostConfig.NetworkMode)
	s.IPC = of(flags.last("ipc")) // Podman calls it shareable whatever it is
	if strings.HasPrefix(c.HostConfig.IpcMode, "container:") {
		s.IPC = of(c.HostConfig.IpcMode)
	}
}

// Sharing returns the spec with the containers whose namespaces it shares by now: "container:ID".
func (s Spec) Sharing(net, pid, ipc string) Spec {
	for mode, has := range map[string]*namespace{net: s.Net, pid: s.PID, ipc: s.IPC} {
		if id, found := strings.CutPrefix(mode, "container:"); found && has != nil {
			has.Value = id
		}
	}
	return s
}

// connect takes the networks and ports, with the addresses of the command: Podman does not say which were asked for.
func (s *Spec) connect(c Container, flags command) {
	if c.HostConfig.NetworkMode == "bridge" {
		s.Networks = map[string]network{}
		for name, has := range c.NetworkSettings.Networks {
			n := network{}
			for _, alias := range has.Aliases {
				if len(alias) < 12 || !strings.HasPrefix(c.ID, alias) {
					n.Aliases = append(n.Aliases, alias)
				}
			}
			if len(c.NetworkSettings.Networks) == 1 {
				n.MAC = flags.last("mac-address")
				n.IPs = append(slices.Clone(flags["ip"]), flags["ip6"]...)
			}
			for _, value := range slices.Concat(flags["network"], flags["net"]) {
				if of, options, _ := strings.Cut(value, ":"); of == name {
					n.options(options)
				}
			}
			s.Networks[name] = n
		}
	}
	for name, bindings := range c.HostConfig.PortBindings {
		number, protocol, _ := strings.Cut(name, "/")
		inside, err := strconv.ParseUint(number, 10, 16)
		for _, b := range bindings {
			outside, other := strconv.ParseUint(b.HostPort, 10, 16)
			if err == nil && other == nil {
				s.Ports = append(s.Ports, port{b.HostIP, uint16(inside), uint16(outside), protocol})
			}
		}
	}
}

func (n *network) options(text string) {
	for o := range strings.SplitSeq(text, ",") {
		switch key, value, _ := strings.Cut(o, "="); key {
		case "ip", "ip6":
			n.IPs = append(n.IPs, value)
		case "mac":
			n.MAC = value
		}
	}
}

func (s *Spec) mount(c Container) {
	for _, m := range c.Mounts {
		if c.Infra != nil && slices.ContainsFunc(c.Infra.Mounts, m.same) {
			continue // which the pod gives to each of its containers
		}
		options := slices.Clone(m.Options)
		if m.Propagation != "" {
			options = append(options, m.Propagation)
		}
		if m.Mode != "" {
			options = append(options, m.Mode) // z or Z
		}
		if !m.RW {
			options = append(options, "ro")
		}
		switch m.Type {
		case "volume":
			s.Volumes = append(s.Volumes, volume{m.Name, m.Destination, options})
		case "image":
			s.ImageMounts = append(s.ImageMounts, imageMount{m.Source, m.Destination, m.RW})
		default:
			s.Mounts = append(s.Mounts, mount{m.Destination, m.Type, m.Source, options})
		}
	}
	for path, options := range c.HostConfig.Tmpfs {
		s.Mounts = append(s.Mounts, mount{path, "tmpfs", "tmpfs", strings.Split(options, ",")})
	}
}

func (s *Spec) secure(c Container, flags command, seen bool) {
	if seen {
		for _, list := range flags["cap-add"] {
			s.CapAdd = append(s.CapAdd, strings.Split(list, ",")...)
		}
		for _, list := range flags["cap-drop"] {
			s.CapDrop = append(s.CapDrop, strings.Split(list, ",")...)
		}
		for _, path := range flags["device"] {
			s.Devices = append(s.Devices, device{path})
		}
	} else if !s.Privileged { // whose capabilities are all
		s.CapAdd, s.CapDrop = c.HostConfig.CapAdd, c.HostConfig.CapDrop
		for _, d := range c.HostConfig.Devices {
			s.Devices = append(s.Devices, device{d.PathOnHost + ":" + d.PathInContainer})
		}
	}
	for _, o := range c.HostConfig.SecurityOpt {
		switch key, value, _ := strings.Cut(o, "="); key {
		case "no-new-privileges":
			s.NoNewPrivs = true
		case "label":
			s.SELinux = append(s.SELinux, value)
		case "seccomp":
			s.Seccomp = value
		}
	}
}

func (s *Spec) limit(c Container, flags command) {
	h, r := c.HostConfig, &s.Resources
	if p := (cpu{h.CPUShares, h.CPUPeriod, h.CPUQuota, h.CpusetCpus, h.CpusetMems}); p != (cpu{}) {
		r.CPU = &p
	}
	m := memory{Limit: h.Memory, Reservation: h.MemoryReservation, Swap: h.MemorySwap, NoKill: h.OomKillDisable}
	if len(flags["memory-swappiness"]) > 0 && h.MemorySwappiness >= 0 {
		swappiness := uint64(h.MemorySwappiness)
		m.Swappiness = &swappiness
	}
	if m != (memory{}) {
		r.Memory = &m
	}
	if h.PidsLimit != 0 {
		r.Pids = &pids{h.PidsLimit}
	}
	unlimited := func(n int64) uint64 {
		if n < 0 {
			return math.MaxUint64
		}
		return uint64(n)
	}
	for _, u := range h.Ulimits { // the others are those of the host, or of containers.conf
		name := strings.ToLower(strings.TrimPrefix(u.Name, "RLIMIT_"))
		if slices.ContainsFunc(flags["ulimit"], func(f string) bool { return strings.Contains(f, name+"=") }) {
			s.Ulimits = append(s.Ulimits, rlimit{name, unlimited(u.Hard), unlimited(u.Soft)})
		}
	}
}

// secret takes what --secret says: NAME,type=env,target=VARIABLE or NAME,target=FILE,uid=1,gid=1,mode=0400. What
// Podman tells of one has neither its target nor its variable.
func (s *Spec) secret(value string) {
	name, rest, _ := strings.Cut(value, ",")
	one, kind := secret{Source: name, Mode: 0o444}, "mount"
	number := func(text string, base int) uint32 {
		n, _ := strconv.ParseUint(text, base, 32)
		return uint32(n)
	}
	for o := range strings.SplitSeq(rest, ",") {
		switch key, v, _ := strings.Cut(o, "="); key {
		case "type":
			kind = v
		case "target":
			one.Target = v
		case "uid":
			one.UID = number(v, 10)
		case "gid":
			one.GID = number(v, 10)
		case "mode":
			one.Mode = number(v, 8)
		}
	}
	if kind != "env" {
		s.Secrets = append(s.Secrets, one)
		return
	}
	one.Target = cmp.Or(one.Target, name)
	s.set(&s.EnvSecrets, one.Target, name)
}

// Read decodes what Podman tells of a container.
func Read(document json.RawMessage) (c Container, err error) {
	return c, json.Unmarshal(document, &c)
}
