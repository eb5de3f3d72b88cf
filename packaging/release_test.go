// Package packaging_test makes a release, but for its upload, and uses what that wrote.
package packaging_test

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/packaging/registryserver"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// goreleaser is the variable of the environment that names the program; see packaging/goreleaser.
const goreleaser = "DOGWATCH_TEST_GORELEASER"

// syft is the variable of the environment that names the program, without which releases of tests have no lists of
// contents; see packaging/syft.
const syft = "DOGWATCH_TEST_SYFT"

const version = "1.2.3"

// checkout is a copy of the sources in a repository of their own, with one commit and the tag of a version.
type checkout struct {
	dir, key string
	env      []string
}

// newCheckout makes one whose releases are for some architectures of Linux, or for all platforms where none is named.
func newCheckout(t *testing.T, architectures string) checkout {
	t.Helper()
	program := os.Getenv(goreleaser)
	if program == "" {
		plugintest.Skip(t, "goreleaser", goreleaser+" is not set")
	}
	c := checkout{dir: t.TempDir(), key: filepath.Join(t.TempDir(), "key")}
	at := "2026-01-02T03:04:05Z"
	c.env = append(os.Environ(), "GORELEASER="+program, "MINISIGN_KEY_FILE="+c.key, "GIT_AUTHOR_DATE="+at,
		"GIT_COMMITTER_DATE="+at, "GIT_CONFIG_GLOBAL=/dev/null",
		// What helps to make a release is compiled as it is itself: what was compiled in another folder serves.
		"GOFLAGS=-trimpath", "CGO_ENABLED=0")
	copySources(t, c.dir)
	c.must(t, "go", "run", "aead.dev/minisign/cmd/minisign", "-G", "-W", "-p", "packaging/dogwatch.pub", "-s", c.key)
	// The key is another one in each checkout, and must not make another commit.
	c.must(t, "git", "init", "-q", "-b", "main")
	c.must(t, "git", "remote", "add", "origin", "https://github.com/dogwatch/dogwatch")
	c.must(t, "sh", "-c", "echo /packaging/dogwatch.pub >.git/info/exclude")
	if architectures != "" {
		c.buildOnly(t, architectures)
	}
	c.must(t, "git", "add", "--all")
	c.must(t, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "release")
	c.must(t, "git", "tag", "v"+version)
	return c
}

// buildOnly has the release be for some architectures of Linux.
func (c checkout) buildOnly(t *testing.T, architectures string) {
	t.Helper()
	config := c.read(t, ".goreleaser.yaml")
	if before, cli, found := strings.Cut(config, "  # For the command line beside"); found {
		_, after, _ := strings.Cut(cli, "\narchives:")
		config = before + "\narchives:" + after
	}
	all := regexp.MustCompile(`goarch: \[.*\]`)
	if len(all.FindAllString(config, -1)) != 1 {
		t.Fatalf("what is built is not found in %s", config)
	}
	c.write(t, ".goreleaser.yaml", all.ReplaceAllLiteralString(config, "goarch: ["+architectures+"]"))
}

// copySources copies what is in the repository, changes that are not committed included.
func copySources(t *testing.T, dir string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = ".."
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join("..", file))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not committed
		}
		content, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

// with returns the checkout with variables of the environment besides.
func (c checkout) with(env ...string) checkout {
	c.env = slices.Concat(c.env, env)
	return c
}

func (c checkout) path(name string) string { return filepath.Join(c.dir, name) }

func (c checkout) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(c.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func (c checkout) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(c.path(name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (c checkout) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c checkout) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.run(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// release runs all of a release but the upload and what is to be skipped besides.
func (c checkout) release(t *testing.T, skip string) (string, error) {
	t.Helper()
	if os.Getenv(syft) == "" {
		skip += ",sbom"
	}
	return c.with("SYFT="+os.Getenv(syft)).run(t, "sh", "packaging/release.sh", "--skip=publish,announce"+skip)
}

// TestRelease makes a release for two platforms, and the plugins for that of this machine.
func TestRelease(t *testing.T) {
	t.Parallel()
	host := registryserver.Start(t)
	c := newCheckout(t, "amd64, arm64").with(registryAt(host)...)
	if out, err := c.with("ARCH=amd64").release(t, ""); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("says its version", func(t *testing.T) {
		out := c.must(t, "dist/linux_linux_amd64_v1/dogwatch", "version")
		commit := strings.TrimSpace(c.must(t, "git", "rev-parse", "HEAD"))
		want := "dogwatch " + version + "\ncommit   " + commit + "\ndate     2026-01-02T03:04:05Z\n"
		if !strings.HasPrefix(out, want) {
			t.Errorf("want %s, got %s", want, out)
		}
		info, err := buildinfo.ReadFile(c.path("dist/linux_linux_arm64_v8.0/dogwatch"))
		if err != nil || !strings.Contains(info.String(), "GOARCH=arm64") {
			t.Errorf("the program for arm64: %v\n%v", err, info)
		}
	})
	t.Run("is signed", func(t *testing.T) { testSigned(t, c) })
	t.Run("packages have the same files", func(t *testing.T) { testPackages(t, c) })
	t.Run("archive has licence and completions", func(t *testing.T) {
		top := "dogwatch_" + version + "_linux_amd64/"
		got := strings.Fields(c.must(t, "tar", "-tzf", "dist/dogwatch_"+version+"_linux_amd64.tar.gz"))
		for _, want := range []string{"LICENSE", "dogwatch", "completions/dogwatch.zsh", "systemd/dogwatch.service"} {
			if !slices.Contains(got, top+want) {
				t.Errorf("no %s in %q", want, got)
			}
		}
	})
	t.Run("says what an archive contains", func(t *testing.T) { testContents(t, c) })
	t.Run("is reproducible", func(t *testing.T) { testReproducible(t, c, "SHA256SUMS", "plugins.txt") })
	t.Run("has plugins", func(t *testing.T) { t.Parallel(); testGallery(t, c, host) })
	t.Run("installs and serves", func(t *testing.T) { t.Parallel(); testInstalls(t, c) })
}

func testSigned(t *testing.T, c checkout) {
	if _, err := exec.LookPath("minisign"); err != nil {
		plugintest.Skip(t, "minisign", err)
	}
	verify := []string{"-V", "-p", "packaging/dogwatch.pub", "-m", "dist/SHA256SUMS"}
	if out := c.must(t, "minisign", verify...); !strings.Contains(out, "Trusted comment: dogwatch "+version) {
		t.Error(out)
	}
	sums := c.read(t, "dist/SHA256SUMS")
	if !strings.Contains(sums, "  gallery.json\n") {
		t.Errorf("SHA256SUMS does not have gallery.json:\n%s", sums)
	}
	for _, end := range []string{".tar.gz", ".deb", ".rpm", ".apk"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := "dogwatch_" + version + "_linux_" + arch + end
			sum := sha256.Sum256([]byte(c.read(t, "dist/"+name)))
			if !strings.Contains(sums, hex.EncodeToString(sum[:])+"  "+name+"\n") {
				t.Errorf("SHA256SUMS does not say that %s is %x:\n%s", name, sum, sums)
			}
		}
	}
	archive := "dogwatch_" + version + "_linux_amd64.tar.gz"
	whole, check := c.read(t, "dist/"+archive), "cd dist && sha256sum --ignore-missing --check SHA256SUMS"
	c.must(t, "sh", "-c", check)
	c.write(t, "dist/"+archive, whole[:len(whole)/2])
	if out, err := c.run(t, "sh", "-c", check); err == nil || !strings.Contains(out, archive+": FAILED") {
		t.Errorf("an archive that was cut short is accepted: %s", out)
	}
	c.write(t, "dist/"+archive, whole)
	c.write(t, "dist/SHA256SUMS", strings.Replace(sums, "a", "b", 1))
	if out, err := c.run(t, "minisign", verify...); err == nil {
		t.Errorf("a changed list is accepted: %s", out)
	}
	c.write(t, "dist/SHA256SUMS", sums)
}

// testPackages reads each package by the tools of its format.
func testPackages(t *testing.T, c checkout) {
	want := []string{
		"etc/dogwatch/dogwatch.yaml", "usr/bin/dogwatch", "usr/lib/systemd/system/dogwatch.service",
		"usr/share/bash-completion/completions/dogwatch", "usr/share/doc/dogwatch/copyright",
		"usr/share/fish/vendor_completions.d/dogwatch.fish", "usr/share/zsh/vendor-completions/_dogwatch",
	}
	file := "dist/dogwatch_" + version + "_linux_amd64"
	if _, err := exec.LookPath("rpm2cpio"); err != nil {
		plugintest.Skip(t, "rpm2cpio", err)
	}
	for format, content := range map[string]string{
		"deb": c.must(t, "sh", "-c", "dpkg-deb --fsys-tarfile "+file+".deb | tar --list"),
		"rpm": c.must(t, "sh", "-c", "rpm2cpio "+file+".rpm | cpio --list --quiet"),
		// It is several compressed archives behind each other.
		"apk": c.must(t, "sh", "-c", "gzip -dc "+file+".apk | tar --list --ignore-zeros"),
	} {
		var files []string
		for name := range strings.FieldsSeq(content) {
			if name = strings.TrimPrefix(name, "."); !strings.HasSuffix(name, "/") && name != "" {
				files = append(files, strings.TrimPrefix(name, "/"))
			}
		}
		for _, name := range want {
			if !slices.Contains(files, name) {
				t.Errorf("%s has no %s: %q", format, name, files)
			}
		}
	}
}

// testReproducible makes the release for one platform, with one of the plugins, again in another folder, and compares
// the checksums in files. What was compiled in the first folder is taken from Go's cache only where no folder is to be
// seen in it: the cache tells apart all else that a compiler is given. The environment of the checkout may name another
// cache.
func testReproducible(t *testing.T, c checkout, files ...string) {
	want := map[string]string{}
	for _, name := range files {
		want[name] = c.read(t, "dist/"+name)
	}
	t.Parallel()
	other := checkout{dir: t.TempDir(), key: c.key, env: c.env}.with("ARCH=amd64", "GALLERY=trigger-file", "PLUGINS=")
	c.must(t, "git", "clone", "-q", ".", other.dir)
	other.write(t, "packaging/dogwatch.pub", c.read(t, "packaging/dogwatch.pub"))
	other.must(t, "sh", "-c", "echo /packaging/dogwatch.pub >.git/info/exclude")
	other.buildOnly(t, "amd64")
	other.must(t, "git", "update-index", "--assume-unchanged", ".goreleaser.yaml") // else it is a changed checkout
	if out, err := other.release(t, ",sign"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, lines := range want {
		sums := regexp.MustCompile(`.*[0-9a-f]{64}.*\n`).FindAllString(other.read(t, "dist/"+name), -1)
		for _, line := range sums {
			if !strings.Contains(lines, line) {
				t.Errorf("%s has %s, and in another folder %s", name, lines, line)
			}
		}
		if sums == nil {
			t.Errorf("%s has no checksum", name)
		}
	}
	if a, b := amd64Image(t, c), amd64Image(t, other); a != b {
		t.Errorf("the image is %s, and in another folder %s", a, b)
	}
}

// amd64Image returns the digest of the image for amd64.
func amd64Image(t *testing.T, c checkout) string {
	t.Helper()
	_, digest, _ := strings.Cut(strings.TrimSpace(c.read(t, "dist/image.digest")), ":")
	var index struct {
		Manifests []struct {
			Digest   string
			Platform struct{ Architecture string }
		}
	}
	if err := json.Unmarshal([]byte(c.read(t, "dist/image/blobs/sha256/"+digest)), &index); err != nil {
		t.Fatal(err)
	}
	for _, m := range index.Manifests {
		if m.Platform.Architecture == "amd64" {
			return m.Digest
		}
	}
	t.Fatalf("%+v has none for amd64", index)
	return ""
}

// testInstalls installs the package on a copy of this machine, whose systemd starts the service.
func testInstalls(t *testing.T, c checkout) {
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		plugintest.Skip(t, "mount", string(out))
	}
	if _, err := os.Stat("/lib/systemd/systemd"); err != nil {
		plugintest.Skip(t, "systemd", err)
	}
	dir := t.TempDir()
	for from, to := range map[string]string{
		c.path("dist/dogwatch_" + version + "_linux_amd64.deb"): "dogwatch.deb", "testdata/installed.sh": "installed.sh",
	} {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "sh", "testdata/boot.sh", dir, "installed.sh").CombinedOutput()
	if err != nil {
		boot, _ := os.ReadFile(filepath.Join(dir, "boot.log"))
		t.Errorf("%v\n%s\n%s", err, out, boot)
	}
}

// TestReleaseRefuses: what must not be released is refused before anything is built, and said by name.
func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	c := newCheckout(t, "amd64")
	refused := func(what, want string) {
		t.Helper()
		out, err := c.release(t, "")
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: want %q, got %v\n%s", what, want, err, out)
		}
		if files, _ := filepath.Glob(c.path("dist/*/dogwatch")); files != nil {
			t.Errorf("%s: %q were built", what, files)
		}
	}
	readme := c.read(t, "README.md")
	c.write(t, "README.md", "changed")
	refused("a change that is not committed", "git is in a dirty state")
	c.write(t, "README.md", readme)

	key := c.read(t, "packaging/dogwatch.pub")
	c.write(t, "packaging/dogwatch.pub", strings.Replace(key, key[len(key)-8:len(key)-2], "AAAAAA", 1))
	refused("the key of somebody else", "is not the key of packaging/dogwatch.pub")
	c.must(t, "rm", "packaging/dogwatch.pub")
	refused("no public key", "packaging/dogwatch.pub is missing: make the key with")
	c.write(t, "packaging/dogwatch.pub", key)
	c.must(t, "rm", c.key)
	refused("no secret key", "MINISIGN_KEY_FILE does not name the secret key")

	c.must(t, "git", "tag", "--delete", "v"+version)
	c.must(t, "git", "tag", "summer")
	refused("a tag that is no version", "failed to parse tag 'summer' as semver")
}
