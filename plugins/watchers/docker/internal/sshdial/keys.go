package sshdial

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Identity is what a user logs in with.
type Identity struct {
	// KeyFile is a private key; "" for the keys in ~/.ssh and those of the agent.
	KeyFile string
	// Passphrase opens KeyFile, or the keys in ~/.ssh.
	Passphrase string
	// Agent is the socket of an ssh agent; "" for none.
	Agent string
}

// maxFile is more than any key or list of known hosts needs.
const maxFile = 4 << 20

// defaultKeys are the names of the keys in ~/.ssh, in the order in which they are tried.
func defaultKeys() []string { return []string{"id_ed25519", "id_ecdsa", "id_rsa"} }

// Check reports what is wrong with the files, before there is anything to connect to. A key that only an agent can
// open is not: the agent may start later. Errors name the file.
func (i Identity) Check() error {
	if i.KeyFile == "" {
		return nil
	}
	_, err := i.read(i.KeyFile)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil
	}
	return err
}

// keys are those that one login tries.
type keys struct {
	signers []ssh.Signer
	// tried names them, and left says of keys that are not tried why.
	tried, left []string
	agent       net.Conn // nil without one
	// only is the file that the user named; "" for none.
	only string
}

func (k *keys) signersFor() ([]ssh.Signer, error) { return k.signers, nil }

func (k *keys) close() {
	if k.agent != nil {
		k.agent.Close()
	}
}

func (k *keys) add(s ssh.Signer, name string) {
	k.signers = append(k.signers, s)
	k.tried = append(k.tried, fmt.Sprintf("%s (%s)", name, ssh.FingerprintSHA256(s.PublicKey())))
}

// load reads the keys, which may be others than those of the last login. The error is an *Error.
func (i Identity) load() (_ *keys, err error) {
	k := &keys{only: i.KeyFile}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	held, noAgent := k.askAgent(i.Agent)
	if i.KeyFile != "" {
		return k, i.loadFile(k, held, noAgent)
	}
	for _, s := range held {
		k.add(s, "a key of the agent")
	}
	if noAgent != "" {
		k.left = append(k.left, noAgent)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	for _, name := range defaultKeys() {
		file := filepath.Join(home, ".ssh", name)
		s, err := i.read(file)
		var locked *ssh.PassphraseMissingError
		switch {
		case errors.Is(err, fs.ErrNotExist) || home == "":
		case errors.As(err, &locked):
			k.left = append(k.left, file+" has a passphrase (set ssh.passphrase, or ssh-add it to an agent)")
		case err != nil:
			k.left = append(k.left, err.Error())
		case !slices.ContainsFunc(k.signers, func(o ssh.Signer) bool { return same(o.PublicKey(), s.PublicKey()) }):
			k.add(s, file)
		}
	}
	if len(k.signers) == 0 {
		text := "there is no key to log in with: set ssh.keyfile, or ssh.agent to the socket of an ssh agent"
		if len(k.left) > 0 {
			text += " (" + strings.Join(k.left, "; ") + ")"
		}
		return nil, unauthorized(text, "")
	}
	return k, nil
}

// loadFile adds the key that the user named: from its file, or from the agent if only that can open it.
func (i Identity) loadFile(k *keys, held []ssh.Signer, noAgent string) error {
	s, err := i.read(i.KeyFile)
	var locked *ssh.PassphraseMissingError
	if !errors.As(err, &locked) {
		if err != nil {
			return unauthorized(err.Error(), "")
		}
		k.add(s, i.KeyFile)
		return nil
	}
	public := locked.PublicKey
	if content, err := os.ReadFile(i.KeyFile + ".pub"); public == nil && err == nil {
		public, _, _, _, _ = ssh.ParseAuthorizedKey(content)
	}
	for _, s := range held {
		if public != nil && same(s.PublicKey(), public) {
			k.add(s, i.KeyFile+" of the agent")
			return nil
		}
	}
	text := fmt.Sprintf("the key %s has a passphrase: set ssh.passphrase, or add the key to an ssh agent (ssh-add %s)",
		i.KeyFile, i.KeyFile)
	switch {
	case noAgent != "":
		text += "; " + noAgent
	case i.Agent != "":
		text += fmt.Sprintf("; the agent at %s does not have it", i.Agent)
	}
	return unauthorized(text, "")
}

// askAgent returns the keys of an agent, and why there are none.
func (k *keys) askAgent(socket string) (held []ssh.Signer, why string) {
	if socket == "" {
		return nil, ""
	}
	conn, err := net.DialTimeout("unix", socket, dialTimeout)
	if err == nil {
		k.agent = conn
		held, err = agent.NewClient(conn).Signers()
	}
	switch {
	case err != nil:
		return nil, fmt.Sprintf("the ssh agent at %s does not respond: %v", socket, Innermost(err))
	case len(held) == 0:
		return nil, fmt.Sprintf("the ssh agent at %s has no keys: ssh-add adds one", socket)
	}
	return held, ""
}

// read reads a private key. The error is an *ssh.PassphraseMissingError for one that needs a passphrase.
func (i Identity) read(file string) (ssh.Signer, error) {
	content, err := readFile(file)
	if err != nil {
		return nil, err
	}
	s, err := ssh.ParsePrivateKey(content)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) && i.Passphrase != "" {
		s, err = ssh.ParsePrivateKeyWithPassphrase(content, []byte(i.Passphrase))
		if errors.Is(err, x509.IncorrectPasswordError) {
			return nil, fmt.Errorf("ssh.passphrase is not the passphrase of %s", file)
		}
	}
	if err != nil && !errors.As(err, &locked) {
		return nil, fmt.Errorf("%s is no private key of OpenSSH or PEM: %s", file, strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return s, err
}

func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("%s is not a file of text", file)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// refused says which keys a server did not accept, and what to do.
func (k *keys) refused(hop Hop, tooMany bool) error {
	text := fmt.Sprintf("the ssh server refuses the login of user %s with %s", hop.User, strings.Join(k.tried, ", "))
	if tooMany {
		return unauthorized(text+": it does not take so many keys, set ssh.keyfile to the one that is meant", "")
	}
	text += fmt.Sprintf(": is that the user, and is the key in the file .ssh/authorized_keys of %s?", hop.User)
	if len(k.left) > 0 {
		text += " Not tried: " + strings.Join(k.left, "; ")
	}
	host, port, _ := net.SplitHostPort(hop.Address)
	command := "ssh-copy-id"
	if k.only != "" {
		command += " -i " + k.only
	}
	if port != defaultPort {
		command += " -p " + port
	}
	return unauthorized(text, command+" "+hop.User+"@"+host)
}

func same(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }
