package podman

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// command are the flags of the "podman run" or "podman create" that made a container, by their long names.
type command map[string][]string

// commandOf returns the flags of a container. It is false for one that something else made, such as a client of the
// API: then Podman keeps the command of its own service.
func commandOf(args []string) (command, bool) {
	at := slices.IndexFunc(args, func(a string) bool { return a == "run" || a == "create" })
	if at < 0 || !strings.Contains(args[0], "podman") {
		return nil, false
	}
	flags := command{}
	for args = args[at+1:]; len(args) > 0; args = args[1:] {
		flag := args[0]
		name, value, given := strings.Cut(flag, "=")
		switch {
		case flag == "--" || !strings.HasPrefix(flag, "-") || flag == "-":
			return flags, true // the image, and what runs in it
		case strings.HasPrefix(flag, "--"):
			name = name[2:]
			if !given && !switches()[name] && len(args) > 1 {
				value, args = args[1], args[1:]
			}
			flags[name] = append(flags[name], value)
		default:
			args = flags.short(flag[1:], args)
		}
	}
	return flags, true
}

// short takes flags of one letter, such as "it", "p80:80" or "e" with its value after it. It returns args without
// that value.
func (c command) short(letters string, args []string) []string {
	for i, letter := range letters {
		name, known := shorthands()[letter]
		if !known {
			name = string(letter)
		}
		if switches()[name] {
			c[name] = append(c[name], "")
			continue
		}
		value := strings.TrimPrefix(letters[i+len(string(letter)):], "=")
		if value == "" && len(args) > 1 {
			value, args = args[1], args[1:]
		}
		c[name] = append(c[name], value)
		return args
	}
	return args
}

// shorthands are the flags of one letter in podman-create(1) and podman-run(1).
func shorthands() map[rune]string {
	return map[rune]string{
		'a': "attach", 'c': "cpu-shares", 'd': "detach", 'e': "env", 'h': "hostname", 'i': "interactive", 'l': "label",
		'm': "memory", 'p': "publish", 'P': "publish-all", 'q': "quiet", 't': "tty", 'u': "user", 'v': "volume",
		'w': "workdir",
	}
}

// switches are the flags that take no value, unless it is written with "=".
func switches() map[string]bool {
	return set("detach", "disable-content-trust", "env-host", "help", "http-proxy", "init", "interactive",
		"no-healthcheck", "no-hostname", "no-hosts", "oom-kill-disable", "passwd", "privileged", "publish-all", "quiet",
		"read-only", "read-only-tmpfs", "replace", "rm", "rmi", "rootfs", "sig-proxy", "tls-verify", "tty", "unsetenv-all")
}

// kept are the flags whose effect the new container has: "podman inspect" tells it, or Make takes it from here, or
// the flag is about the creation alone. TestPodmanKeepsSettings tries them.
func kept() map[string]bool {
	return set("add-host", "annotation", "attach", "authfile", "cap-add", "cap-drop", "cgroup-parent", "cpu-period",
		"cpu-quota", "cpu-shares", "cpus", "cpuset-cpus", "cpuset-mems", "detach", "detach-keys", "device",
		"disable-content-trust", "dns", "dns-option", "dns-search", "entrypoint", "env", "env-file", "env-host", "expose",
		"group-add", "health-cmd", "health-interval", "health-on-failure", "health-retries", "health-start-period",
		"health-timeout", "hostname", "http-proxy", "init", "interactive", "ip", "ip6", "ipc", "label", "label-file",
		"log-driver", "log-opt", "mac-address", "memory", "memory-reservation", "memory-swap", "memory-swappiness", "mount",
		"name", "network", "net", "network-alias", "no-healthcheck", "no-hosts", "oom-kill-disable", "oom-score-adj", "pid",
		"pids-limit", "pod", "privileged", "publish", "pull", "quiet", "read-only", "read-only-tmpfs",
		"replace", "restart", "rm", "sdnotify", "secret", "security-opt", "shm-size", "sig-proxy", "stop-signal",
		"stop-timeout", "sysctl", "systemd", "timeout", "tls-verify", "tmpfs", "tty", "tz", "ulimit", "umask", "unsetenv",
		"user", "uts", "volume", "workdir")
}

func set(names ...string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// last returns the value of a flag that counts once; "" without one.
func (c command) last(name string) string {
	if all := c[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// on reports whether a switch is set.
func (c command) on(name string) bool { return len(c[name]) > 0 && c.last(name) != "false" }

// Unseen reports whether Podman does not say how a container was created, so that settings may be lost which
// "podman inspect" does not tell.
func (c Container) Unseen() bool {
	_, seen := commandOf(c.Config.CreateCommand)
	return !seen
}

// Lost returns the settings of a container that a new one would not have, as flags of "podman run" without values
// that may be secret.
func (c Container) Lost() []string {
	flags, _ := commandOf(c.Config.CreateCommand)
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		switch {
		case !kept()[name]:
			lost = append(lost, "--"+name)
		default:
			lost = append(lost, lostValues(name, flags[name])...)
		}
	}
	for _, m := range c.Mounts {
		for _, o := range m.Options {
			if o == "U" || strings.HasPrefix(o, "idmap") {
				lost = append(lost, fmt.Sprintf("the option %s of the mount %s", o, m.Destination))
			}
		}
	}
	return lost
}

// lostValues returns those values of a flag that are kept less than others of it.
func lostValues(name string, values []string) (lost []string) {
	say := func(value string) { lost = append(lost, "--"+name+"="+value) }
	for _, value := range values {
		options := strings.Split(value, ",")
		kind := strings.TrimPrefix(options[0], "type=")
		switch name {
		case "volume":
			parts := strings.Split(value, ":")
			if len(parts) > 2 && slices.ContainsFunc(strings.Split(parts[2], ","), unkeptOption) {
				say(value)
			}
		case "mount":
			if !slices.ContainsFunc(options, func(o string) bool {
				return slices.Contains([]string{"type=bind", "type=volume", "type=tmpfs", "type=image"}, o)
			}) || slices.ContainsFunc(options, unkeptOption) {
				say(value)
			}
		case "network", "net":
			mode, set, _ := strings.Cut(value, ":")
			known := mode == "container" || mode == "ns"
			for o := range strings.SplitSeq(set, ",") {
				key, _, _ := strings.Cut(o, "=")
				if !known && o != "" && (mode == "slirp4netns" || mode == "pasta" || !slices.Contains(
					[]string{"ip", "ip6", "mac", "alias"}, key)) {
					say(value)
					break
				}
			}
		case "security-opt":
			key, _, _ := strings.Cut(strings.Replace(value, ":", "=", 1), "=")
			if !slices.Contains([]string{"no-new-privileges", "label"}, key) && value != "seccomp=unconfined" {
				say(value)
			}
		case "ipc":
			if value == "none" || strings.HasPrefix(value, "ns:") {
				say(value)
			}
		case "device":
			if strings.Contains(value, "=") { // of the container device interface
				say(value)
			}
		case "log-opt":
			if key, _, _ := strings.Cut(value, "="); key == "path" {
				say(value)
			}
		case "pull":
		case "secret":
			if len(options) > 1 && !secretKept(options[1:]) {
				say(kind)
			}
		}
	}
	return lost
}

func secretKept(options []string) bool {
	for _, o := range options {
		key, _, _ := strings.Cut(o, "=")
		if !slices.Contains([]string{"type", "target", "uid", "gid", "mode"}, key) {
			return false
		}
	}
	return true
}

// unkeptOption reports whether an option of a mount is done once, or is not told afterwards.
func unkeptOption(o string) bool {
	name, value, _ := strings.Cut(o, "=")
	switch name {
	case "O", "U", "chown", "idmap", "subpath", "upperdir", "workdir", "copy", "nocopy", "volume-opt":
		return value != "false"
	}
	return false
}
