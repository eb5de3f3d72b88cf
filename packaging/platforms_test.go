package packaging_test

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// made is the variable of the environment that names the folder in which packaging/release.sh has made a release.
const made = "DOGWATCH_TEST_RELEASE"

// platform is one that a release is for, by the names of those who say which it is.
type platform struct {
	name            string // that of files
	arch, arm       string // Go's
	deb, apk        string
	emulator, image string
}

var linux = []platform{
	{"linux_amd64", "amd64", "", "amd64", "x86_64", "qemu-x86_64-static", "amd64"},
	{"linux_arm64", "arm64", "", "arm64", "aarch64", "qemu-aarch64-static", "arm64"},
	{"linux_armv6", "arm", "6", "armhf", "armhf", "qemu-arm-static", "armv6"},
	{"linux_armv7", "arm", "7", "armhf", "armv7", "qemu-arm-static", "armv7"},
	{"linux_riscv64", "riscv64", "", "riscv64", "riscv64", "qemu-riscv64-static", "riscv64"},
}

// TestReleaseForAllPlatforms reads back a release that was made before, for which a test has no time, and runs what is
// for other architectures. Programs for macOS and Windows are read only.
func TestReleaseForAllPlatforms(t *testing.T) {
	dist := os.Getenv(made)
	if dist == "" {
		plugintest.Skip(t, "release", made+" is not set")
	}
	var metadata struct{ Version string }
	text, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &metadata); err != nil {
		t.Fatal(err)
	}
	file := func(platform, end string) string {
		return filepath.Join(dist, "dogwatch_"+metadata.Version+"_"+platform+end)
	}
	for _, p := range linux {
		t.Run(p.name, func(t *testing.T) {
			program := archived(t, file(p.name, ".tar.gz"), "dogwatch")
			checkProgram(t, program, "linux", p.arch, p.arm)
			checkPackages(t, p, program, file)
			t.Run("runs", func(t *testing.T) { runForeign(t, program, p) })
		})
	}
	for _, os := range []string{"darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			end, name := ".tar.gz", "dogwatch"
			if os == "windows" {
				end, name = ".zip", "dogwatch.exe"
			}
			checkProgram(t, archived(t, file(os+"_"+arch, end), name), os, arch, "")
		}
	}
	checkImage(t, filepath.Join(dist, "image"))
}

// output runs a command of a shell, whose arguments are $1 and so on, and returns what it prints.
func output(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	var problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", script, args, err, &problems)
	}
	return out
}

// archived unpacks a program from an archive, and returns where it is.
func archived(t *testing.T, archive, name string) string {
	t.Helper()
	unpack := `tar -C "$2" --strip-components=1 -xzf "$1"`
	if strings.HasSuffix(archive, ".zip") {
		unpack = `python3 -m zipfile -e "$1" "$2" && mv "$2"/*/* "$2"`
	}
	dir := t.TempDir()
	output(t, unpack, archive, dir)
	return filepath.Join(dir, name)
}

// checkProgram: a program says what it was built for, is as large as it may be, and needs no library of C.
func checkProgram(t *testing.T, file, system, arch, arm string) {
	t.Helper()
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	if got["GOOS"] != system || got["GOARCH"] != arch || got["GOARM"] != arm || got["CGO_ENABLED"] != "0" ||
		got["vcs.modified"] != "false" {
		t.Errorf("the program for %s/%s%s is %v", system, arch, arm, got)
	}
	if size, err := os.Stat(file); err != nil || size.Size() > 50<<20 {
		t.Errorf("the program for %s/%s%s has %d bytes (%v)", system, arch, arm, size.Size(), err)
	}
}

// checkPackages: each package is for the architecture, and has the program of the archive.
func checkPackages(t *testing.T, p platform, program string, file func(platform, end string) string) {
	want, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	deb, rpm, apk := file(p.name, ".deb"), file(p.name, ".rpm"), file(p.name, ".apk")
	if got := string(output(t, `dpkg-deb --field "$1" Architecture`, deb)); strings.TrimSpace(got) != p.deb {
		t.Errorf("the deb is for %s", got)
	}
	pkginfo := string(output(t, `gzip -dc "$1" | tar --ignore-zeros -xO .PKGINFO`, apk))
	if !strings.Contains(pkginfo, "arch = "+p.apk+"\n") {
		t.Errorf("the apk is for %s", pkginfo)
	}
	for from, script := range map[string]string{
		deb: `dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/bin/dogwatch`,
		rpm: `rpm2cpio "$1" | cpio --quiet --to-stdout --extract /usr/bin/dogwatch ./usr/bin/dogwatch`,
		apk: `gzip -dc "$1" | tar --ignore-zeros -xO usr/bin/dogwatch`,
	} {
		if got := output(t, script, from); !bytes.Equal(got, want) {
			t.Errorf("%s has another program, of %d bytes", filepath.Base(from), len(got))
		}
	}
}

// runForeign runs the demo with its plugins, in an emulator where that is needed.
func runForeign(t *testing.T, program string, p platform) {
	if p.arch == runtime.GOARCH {
		t.Skip("that is the architecture of this machine, on which TestRelease installs it")
	}
	emulator, err := exec.LookPath(p.emulator)
	if err != nil {
		plugintest.Skip(t, "qemu", err)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "testdata/foreign.sh", program, emulator).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkImage: the image is for each platform, and as large as it may be.
func checkImage(t *testing.T, layout string) {
	type descriptor struct {
		Digest   string
		Size     int64
		Platform struct{ Architecture, Variant string }
	}
	read := func(name string) (manifest struct{ Manifests, Layers []descriptor }) {
		text, err := os.ReadFile(filepath.Join(layout, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &manifest); err != nil {
			t.Fatal(err)
		}
		return manifest
	}
	blob := func(digest string) string { return "blobs/sha256/" + strings.TrimPrefix(digest, "sha256:") }
	var got, want []string
	for _, m := range read(blob(read("index.json").Manifests[0].Digest)).Manifests {
		got = append(got, m.Platform.Architecture+m.Platform.Variant)
		size := m.Size
		for _, layer := range read(blob(m.Digest)).Layers {
			size += layer.Size
		}
		t.Logf("the image for %s has %.1f MB", got[len(got)-1], float64(size)/1e6)
		if size > 20e6 {
			t.Errorf("the image for %s has %d bytes", got[len(got)-1], size)
		}
	}
	for _, p := range linux {
		want = append(want, p.image)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the image is for %q, want %q", got, want)
	}
}
