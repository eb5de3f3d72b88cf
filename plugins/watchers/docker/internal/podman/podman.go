// Package podman makes the container that takes the place of another one by Podman's own API, which is called libpod.
//
// Its Docker-compatible API is not enough for that: with Podman 4.3 a container that it creates from what it says
// itself of another one has the umask 0000 instead of 0022 and another log driver, and has lost the settings that
// Docker has none of, such as secrets, the action of a health check and mounts of images; ulimits, CPU limits and
// devices are refused in the form in which it tells them. libpod takes all of these.
//
// What "podman inspect" does not tell, such as sysctls and static addresses, is in the command that created the
// container. A flag of that command which neither tells is refused by its name (Lost), and Differences compares what
// Podman tells of both containers before anything is stopped. So nothing is lost in silence.
package podman

// Container is what "podman inspect" says of a container, as far as it is used here: InspectContainerData in
// libpod/define/container_inspect.go of https://github.com/containers/podman.
type Container struct {
	ID      string `json:"Id"`
	Pod     string
	IsInfra bool
	Config  struct {
		Hostname                   string
		Umask, Timezone            string
		StopTimeout, Timeout       uint
		OpenStdin, Tty             bool
		Annotations                map[string]string
		HealthcheckOnFailureAction string
		CreateCommand              []string
		SDNotifyMode               string `json:"sdNotifyMode"`
	}
	Mounts     []Mount
	HostConfig struct {
		NetworkMode, IpcMode, PidMode, UTSMode                                         string
		LogConfig                                                                      struct{ Type, Tag, Size string }
		PortBindings                                                                   map[string][]Binding
		RestartPolicy                                                                  RestartPolicy
		CapAdd, CapDrop, DNS, DNSOptions, DNSSearch, ExtraHosts, GroupAdd, SecurityOpt []string
		Privileged, PublishAllPorts, ReadonlyRootfs, Init, OomKillDisable              bool
		Tmpfs                                                                          map[string]string
		OomScoreAdj                                                                    int
		ShmSize, Memory, MemoryReservation, MemorySwap, MemorySwappiness, PidsLimit    int64
		CPUShares                                                                      uint64
		CPUPeriod                                                                      uint64
		CPUQuota                                                                       int64
		CpusetCpus, CpusetMems, CgroupParent                                           string
		Devices                                                                        []Device
		Ulimits                                                                        []Ulimit
	}
	NetworkSettings NetworkSettings
	Dependencies    []string
	// Infra is the infra container of the pod of the container; nil without one. Podman does not say it here.
	Infra *Container `json:"-"`
}

// NetworkSettings are the networks of a container, by name.
type NetworkSettings struct {
	Networks map[string]struct{ Aliases []string }
}

// Mount is a volume, a folder of the host or an image in a container.
type Mount struct {
	Type, Name, Source, Destination, Mode, Propagation string
	Options                                            []string
	RW                                                 bool
}

func (m Mount) same(o Mount) bool {
	return m.Destination == o.Destination && m.Name == o.Name && m.Source == o.Source
}

// Binding is where a port is published.
type Binding struct{ HostIP, HostPort string }

// RestartPolicy is when a container is started again.
type RestartPolicy struct {
	Name              string
	MaximumRetryCount uint
}

// Device is a device of the host.
type Device struct{ PathOnHost, PathInContainer string }

// Ulimit is a limit of processes, called as in setrlimit(2): "RLIMIT_NOFILE".
type Ulimit struct {
	Name       string
	Soft, Hard int64
}
