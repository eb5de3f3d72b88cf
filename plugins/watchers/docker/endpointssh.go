package docker

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/sshdial"
	"github.com/dogwatch/dogwatch/sdk"
)

// SSH says how to log in to the machine of an engine whose address is ssh://.
type SSH struct {
	KeyFile    string   `option:"keyfile" help:"File with the private key for an engine at ssh://; without it the keys of the agent and those in ~/.ssh are tried"`
	Passphrase string   `option:"passphrase,secret" help:"Passphrase of the key, best by ssh.passphrase__file; an agent needs none"`
	Agent      string   `option:"agent" help:"Socket of an ssh agent; without it SSH_AUTH_SOCK of the environment"`
	KnownHosts string   `option:"knownhosts" help:"File with the host keys that are accepted, as ~/.ssh/known_hosts; without it that file and /etc/ssh/ssh_known_hosts"`
	Jump       []string `option:"jump" help:"Hosts to go through, the nearest first, as user@host or user@host:port"`
}

const sshPort = 22

// locateSSH reads user@host[:port][/path of the socket].
func (o Connection) locateSSH(option, rest string) (engine.Endpoint, []string, error) {
	invalid := func(field, format string, args ...any) (engine.Endpoint, []string, error) {
		return engine.Endpoint{}, nil, sdk.Invalid(field, format, args...)
	}
	const form = "write it like ssh://pi@nas.example.org or ssh://pi@nas:2222/run/user/1000/podman/podman.sock"
	u, err := url.Parse("ssh://" + rest)
	if err != nil || u.Hostname() == "" {
		return invalid(option, "is not an address: %s", form)
	}
	_, password := u.User.Password()
	switch {
	case password, u.RawQuery != "", u.Fragment != "":
		return invalid(option, "has a user, but no password, ? or #: ssh logs in with a key, see ssh.keyfile")
	case u.User.Username() == "":
		return invalid(option, "names no user: %s", form)
	}
	socket := u.Path
	if socket == "" || socket == "/" {
		socket = defaultSocket
	}
	if len(socket) > maxSocketPath {
		return invalid(option, "the path of the socket must have 1 to %d characters, such as %s", maxSocketPath, defaultSocket)
	}
	port := sshPort
	if o.Port != 0 && o.Port != plainPort {
		port = o.Port
	}
	target := hopOf(u, port)
	var hops []sshdial.Hop
	for _, text := range o.SSH.Jump {
		jump, err := url.Parse("ssh://" + strings.TrimPrefix(strings.TrimSpace(text), "ssh://"))
		if err != nil || jump.Hostname() == "" || strings.Trim(jump.Path, "/") != "" || jump.RawQuery != "" {
			return invalid("ssh.jump", "%q is not a host to go through: write user@host or user@host:port", sdk.RedactURL(jump))
		}
		if _, password := jump.User.Password(); password {
			return invalid("ssh.jump", "%s has a password: ssh logs in with a key, see ssh.keyfile", jump.Hostname())
		}
		if jump.User.Username() == "" {
			jump.User = u.User
		}
		hops = append(hops, hopOf(jump, sshPort))
	}
	identity := sshdial.Identity{
		KeyFile: o.SSH.KeyFile, Passphrase: o.SSH.Passphrase, Agent: cmp.Or(o.SSH.Agent, os.Getenv("SSH_AUTH_SOCK")),
	}
	known := sshdial.KnownHosts(o.SSH.KnownHosts)
	if err := identity.Check(); err != nil {
		return invalid("ssh.keyfile", "%v", err)
	}
	if err := known.Check(); err != nil {
		return invalid("ssh.knownhosts", "%v", err)
	}
	var warnings []string
	if o.usesTLS() {
		warnings = append(warnings, "cafile, certfile and keyfile have no effect over ssh: its key is ssh.keyfile")
	}
	warnings = append(warnings, o.unusedProxy("ssh: name hosts to go through in ssh.jump")...)
	return engine.Endpoint{Network: "unix", Address: socket, SSH: sshdial.New(append(hops, target), identity, known)},
		warnings, nil
}

// hopOf is where an address leads, at a port if it has none.
func hopOf(u *url.URL, port int) sshdial.Hop {
	return sshdial.Hop{
		User:    u.User.Username(),
		Address: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), strconv.Itoa(port))),
	}
}

// unusedSSH warns of options for ssh that an address without it does not need.
func (o Connection) unusedSSH() []string {
	s := o.SSH
	if s.KeyFile == "" && s.Passphrase == "" && s.Agent == "" && s.KnownHosts == "" && len(s.Jump) == 0 {
		return nil
	}
	return []string{"the options ssh.… have no effect: the address of the engine is not ssh://"}
}
