package plugin

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
)

// systemPaths are what programs need of a system and no secret is in: libraries, interpreters,
// certificates, time zones, and what says who is called what.
func systemPaths() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
		"/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust",
		"/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies", "/var/lib/ca-certificates",
		"/etc/alternatives",
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path",
		"/etc/ld-musl-aarch64.path",
		"/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/passwd",
		"/etc/group",
		"/etc/os-release", "/etc/debian_version", "/etc/timezone", "/etc/mime.types", "/etc/locale.alias",
		"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/nscd",
		"/proc", // secrets of other processes are closed by more than permissions: to attach to them is forbidden
		"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm",
		"/dev/random", "/dev/urandom",
	}
}

// replacedFiles are files of the system that are replaced while it runs, when its network
// changes or its time zone is set.
func replacedFiles() []string {
	return []string{"/etc/resolv.conf", "/etc/hosts", "/etc/hostname", "/etc/localtime"}
}

// readable is what a process of a bundle may read and execute.
func (h *Host) readable(b bundle) []string {
	all := slices.Concat(systemPaths(), replacedFiles(), []string{b.path})
	var more []string
	for _, name := range slices.Concat([]string{"PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"}, h.opt.Env) {
		more = append(more, filepath.SplitList(os.Getenv(name))...)
	}
	if home := os.Getenv("HOME"); home != "" {
		// of Python's packages of a user
		more = append(more, filepath.Join(home, ".local", "lib"), filepath.Join(home, ".local", "bin"))
	}
	more = append(more, interpreter(b.path)...)
	folder := filepath.Dir(b.path) // of a script, with what it may have beside it
	if !slices.ContainsFunc(h.privatePaths(), func(p string) bool { return p != folder && below(p, folder) }) {
		all = append(all, folder)
	}
	for _, path := range more {
		if filepath.IsAbs(path) && !h.wide(filepath.Clean(path)) {
			all = append(all, filepath.Clean(path))
		}
	}
	return all
}

// interpreter returns the folders that the interpreter of a script is installed in: of
// /opt/node/bin/node that is /opt/node.
func interpreter(path string) (folders []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !strings.HasPrefix(string(line), "#!") || len(words) == 0 {
		return nil
	}
	program := words[0]
	if filepath.Base(program) == "env" {
		program = ""
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				program = word
				break
			}
		}
	}
	found, err := exec.LookPath(program)
	if err != nil {
		return nil
	}
	for _, name := range []string{found, resolved(found)} {
		folders = append(folders, filepath.Dir(filepath.Dir(name)))
	}
	return folders
}

// namedPaths are the absolute paths that an instance's options name, without links.
func namedPaths(spec pluginclient.Instance) (all []string) {
	add := func(text string) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "unix://"), "file://")
		if filepath.IsAbs(text) {
			all = append(all, resolved(filepath.Clean(text)))
		}
	}
	for _, value := range spec.Options {
		switch value := value.(type) {
		case string:
			add(value)
		case []string:
			for _, item := range value {
				add(item)
			}
		}
	}
	return all
}

// opens returns what an option opens that names a path: a folder, or for a file the folder
// that it is in, so that it can be made and replaced. Near the files of the system it is the
// file alone, if it is there; near those of Dogwatch the file alone, too, there or not. It
// is "" for what no option opens.
func (h *Host) opens(path string) string {
	info, err := os.Stat(path)
	parent := filepath.Dir(path)
	_, noFolder := os.Stat(parent)
	switch {
	case err == nil && info.IsDir():
		if !h.wide(path) {
			return path
		}
	case noFolder == nil && !h.wide(parent):
		return parent
	case noFolder == nil && !h.private(path) && (err == nil || !system(parent)):
		return path
	}
	return ""
}

// resolved follows links, also those in the way to a file that is not there yet.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(real, filepath.Base(path))
	}
	return path
}

// systemFolders hold what is of the system or of all its users, and are opened by no option.
func systemFolders() []string {
	return []string{"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root",
		"/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/var/lib", "/var/run"}
}

// within are of the system with all that is in them.
func within() []string {
	return []string{"/boot", "/dev", "/etc/ssh", "/etc/ssl", "/etc/systemd", "/etc/cron.d", "/proc", "/sys", "/usr/bin",
		"/usr/sbin", "/usr/lib", "/usr/local/bin", "/run/systemd"}
}

// wide reports whether a folder holds more than one option can mean: the system's files,
// those of Dogwatch, or a user's home.
func (h *Host) wide(dir string) bool {
	return system(dir) || dir == filepath.Clean(os.Getenv("HOME")) ||
		slices.ContainsFunc(h.privatePaths(), func(p string) bool { return below(p, dir) })
}

// system reports whether a folder is one of the system's own.
func system(dir string) bool {
	return slices.Contains(systemFolders(), dir) ||
		slices.ContainsFunc(within(), func(p string) bool { return below(dir, p) })
}

// private reports whether a path is one of Dogwatch's own files.
func (h *Host) private(path string) bool { return slices.Contains(h.privatePaths(), path) }

func (h *Host) privatePaths() []string {
	all := []string{resolved(h.runDir)}
	for _, path := range append([]string{h.opt.Dir}, h.opt.Isolation.Private...) {
		if abs, err := filepath.Abs(path); err == nil && path != "" {
			all = append(all, abs, resolved(abs))
		}
	}
	return all
}

// below reports whether a path is a folder or in it.
func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
