package sshdial

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// KnownHosts is a file of host keys in the format of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"; "" for ~/.ssh/known_hosts
// and /etc/ssh/ssh_known_hosts, as far as they are there.
type KnownHosts string

// systemKnownHosts holds the keys that the administrator of a machine vouches for.
const systemKnownHosts = "/etc/ssh/ssh_known_hosts"

// files returns those that there are, and the one to which a key is added.
func (k KnownHosts) files() (there []string, own string) {
	if k != "" {
		return []string{string(k)}, string(k)
	}
	own = systemKnownHosts
	all := []string{systemKnownHosts}
	if home, err := os.UserHomeDir(); err == nil {
		own = filepath.Join(home, ".ssh", "known_hosts")
		all = []string{own, systemKnownHosts}
	}
	return slices.DeleteFunc(all, func(file string) bool {
		_, err := os.Stat(file)
		return errors.Is(err, fs.ErrNotExist)
	}), own
}

// Check reports what is wrong with the file. The error names it.
func (k KnownHosts) Check() error {
	if k == "" {
		return nil
	}
	_, err := k.load()
	return err
}

// hostKeys verifies host keys. A key is accepted only if a file lists it for that host.
type hostKeys struct {
	callback ssh.HostKeyCallback
	own      string
}

// load reads the files, which may have changed since the last login. The error is an *Error.
func (k KnownHosts) load() (*hostKeys, error) {
	there, own := k.files()
	for _, file := range there {
		if _, err := readFile(file); err != nil {
			return nil, unauthorized("the file of known hosts: "+err.Error(), "")
		}
	}
	callback, err := knownhosts.New(there...)
	if err != nil {
		return nil, unauthorized("the file of known hosts cannot be read: "+
			strings.TrimPrefix(err.Error(), "knownhosts: "), "correct or remove that line")
	}
	return &hostKeys{callback: callback, own: own}, nil
}

// plain are the algorithms of host keys, by the type of the key.
func plain(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{keyType}
}

// keyTypes are those that host keys have, in the order in which they are preferred for an unknown host.
func keyTypes() []string {
	return []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSA}
}

// certificates are the algorithms of host certificates.
func certificates() []string {
	return []string{
		ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
		ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
	}
}

// algorithms are what a server is asked to identify itself with: first a certificate, if an authority is known for
// the host, then the types of its known keys, then all others, whose keys are refused by name.
func (h *hostKeys) algorithms(address string) []string {
	var first, then []string
	for _, known := range h.known(address) {
		switch keyType := known.Key.Type(); {
		case ofAuthority(known):
			first = certificates()
		case slices.Contains(keyTypes(), keyType):
			then = append(then, plain(keyType)...)
		}
	}
	for _, keyType := range keyTypes() {
		then = append(then, plain(keyType)...)
	}
	var all []string
	for _, name := range slices.Concat(first, then) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// known returns the keys that are listed for a host: those that are wanted instead of a key that nobody has.
func (h *hostKeys) known(address string) []knownhosts.KnownKey {
	var wanted *knownhosts.KeyError
	if errors.As(h.callback(address, &net.TCPAddr{}, noKey{}), &wanted) {
		return wanted.Want
	}
	return nil
}

// noKey is a key of no host.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.ErrUnsupported }

// ofAuthority reports whether a key is listed as that of a certificate authority.
func ofAuthority(k knownhosts.KnownKey) bool {
	content, err := readFile(k.Filename)
	if err != nil {
		return false
	}
	lines := bytes.Split(content, []byte("\n"))
	return k.Line <= len(lines) && bytes.HasPrefix(bytes.TrimSpace(lines[k.Line-1]), []byte("@cert-authority"))
}

// verify implements ssh.HostKeyCallback. The error is an *Error.
func (h *hostKeys) verify(address string, remote net.Addr, key ssh.PublicKey) error {
	err := h.callback(address, remote, key)
	var (
		wanted  *knownhosts.KeyError
		revoked *knownhosts.RevokedError
	)
	offered := fmt.Sprintf("%s (%s)", ssh.FingerprintSHA256(key), key.Type())
	host := knownhosts.Normalize(address)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		return unauthorized(fmt.Sprintf("the host key %s is revoked in %s:%d", offered, revoked.Revoked.Filename,
			revoked.Revoked.Line), "")
	case !errors.As(err, &wanted):
		return unauthorized(fmt.Sprintf("the certificate of the host key %s is not valid for %s: %s", offered, host,
			strings.TrimPrefix(err.Error(), "ssh: ")), "")
	}
	add := fmt.Sprintf("echo '%s' >> %s", knownhosts.Line([]string{address}, key), h.own)
	if len(wanted.Want) == 0 {
		return unauthorized(fmt.Sprintf("the host key of %s is not known, it is %s: compare that with ssh-keygen -lf "+
			"/etc/ssh/ssh_host_%s_key.pub on that host, then add it to %s", host, offered, short(key), h.own), add)
	}
	want := wanted.Want[0]
	for _, k := range wanted.Want {
		if k.Key.Type() == key.Type() {
			want = k
		}
	}
	return unauthorized(fmt.Sprintf("the host key of %s has changed: it is %s, and %s:%d says %s. Somebody may be in "+
		"between; if the host was installed again, replace the key", host, offered, want.Filename, want.Line,
		ssh.FingerprintSHA256(want.Key)), fmt.Sprintf("ssh-keygen -R '%s' -f %s && %s", host, want.Filename, add))
}

// short is the type of a key as names of files have it.
func short(key ssh.PublicKey) string {
	switch t := key.Type(); {
	case t == ssh.KeyAlgoRSA:
		return "rsa"
	case strings.HasPrefix(t, "ecdsa"):
		return "ecdsa"
	}
	return strings.TrimPrefix(key.Type(), "ssh-")
}
