//go:build unix

package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/wireplugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestStartFailureIsExplained: what a user reads about a file that does not start is
// what the file itself says, or how it differs from a plugin.
func TestStartFailureIsExplained(t *testing.T) {
	script := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "mine"), []byte(text), 0o755))
		}
	}
	wired := func(how string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { wireplugin.Write(t, dir, "mine", how) }
	}
	foreign := func(t *testing.T, dir string) { // the header of a program for IBM Z, which runs none of the tests
		header := append([]byte("\x7fELF\x02\x02\x01"), make([]byte, 57)...)
		copy(header[16:], []byte{0, 2, 0, 22, 0, 0, 0, 1}) // ET_EXEC, EM_S390, EV_CURRENT
		copy(header[52:], []byte{0, 64, 0, 56, 0, 0, 0, 64})
		must(t, os.WriteFile(filepath.Join(dir, "mine"), header, 0o755))
	}
	for name, c := range map[string]struct {
		arrange func(*testing.T, string)
		state   State
		reason  string
	}{
		"says hello":            {script("#!/bin/sh\necho hello\n"), Rejected, `its first line on stdout is "hello"`},
		"says hello and on":     {wired("greets"), Rejected, `its first line on stdout is "hello"`},
		"a Go panic":            {script("#!/bin/sh\n(echo 'panic: no map'; echo; echo 'goroutine 1 [running]:'; echo 'main.main()') >&2\nexit 2\n"), Broken, "(exit code 2); it wrote to stderr: panic: no map"},
		"a Python exception":    {script("#!/bin/sh\n(echo Traceback; echo ' File x'; echo \"ModuleNotFoundError: No module named 'grpc'\") >&2\nexit 1\n"), Broken, "it wrote to stderr: ModuleNotFoundError: No module named 'grpc'"},
		"a Node exception":      {script("#!/bin/sh\n(echo 'Error [ERR_X]: no module'; echo '    at x'; echo; echo Node.js v20) >&2\nexit 1\n"), Broken, "stderr: Error [ERR_X]: no module"},
		"a place in JavaScript": {script("#!/bin/sh\n(echo 'TypeError: no trim'; echo '    at node:internal/x:1:2'; echo '    at run (/home/me/lamp.js:14:3)') >&2\nexit 1\n"), Broken, "stderr: TypeError: no trim (lamp.js:14)"},
		"a place in Python":     {script("#!/bin/sh\n(echo Traceback; echo '  File \"/me/main.py\", line 3, in <module>'; echo '  File \"/me/lamp.py\", line 14, in run'; echo 'TypeError: no strip') >&2\nexit 1\n"), Broken, "stderr: TypeError: no strip (lamp.py:14)"},
		"a place in Go":         {script("#!/bin/sh\n(echo 'panic: no map'; echo; echo 'goroutine 1 [running]:'; echo 'panic(0x1)'; printf '\\t/go/src/runtime/panic.go:884 +0x2f\\n'; echo 'main.main()'; printf '\\t/me/lamp.go:14 +0x1d\\n'; seq 100) >&2\nexit 2\n"), Broken, "stderr: panic: no map (lamp.go:14)"},
		"any last words": {script("#!/bin/sh\n(seq 40; echo '{\"@message\":\"in short\"}') >&2\nexit 1\n"),
			Broken, "stderr: 39 | 40 | in short"},
		"a long line of JSON": {script("#!/bin/sh\n(echo before; printf '{\"@level\":\"error\",\"stack\":\"%0999d\",\"error\":\"no key\",\"@message\":\"cannot begin\"}\\n' 1) >&2\nexit 1\n"), Broken, "stderr: before | cannot begin: no key"},
		"no words": {script("#!/bin/sh\nexit 3\n"), Broken,
			"it ended while starting (exit code 3)"},
		"another processor": {foreign, Rejected, "plugin mine is a program for linux/s390x, and this is "},
		"no program":        {script("lamp"), Rejected, "is no program for "},
		"no interpreter":    {script("#!/no/such/interpreter\n"), Broken, "the interpreter in the first line of a script"},
		"odd handshake":     {script("#!/bin/sh\necho '1|1|pipe|x|grpc'\n"), Rejected, "unknown address type"},
		"no health service": {wired("no-health"), Rejected,
			`must serve grpc.health.v1.Health, with SERVING for the service "plugin"`},
		"no TLS": {wired("no-tls"), Broken,
			"it cannot be reached at the socket of its handshake, with the certificate that it was given"},
		"another name":  {wired("auto-mtls other-name"), Broken, "not localhost"},
		"padded base64": {wired("auto-mtls padded"), Rejected, "error parsing server cert"},
		"no types":      {wired("holds-nothing"), Rejected, "holds no types"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := testOptions(t)
			opt.Builtins, opt.Dir = nil, shortDir(t)
			c.arrange(t, opt.Dir)
			h := newHost(t, opt)
			must(t, h.Discover(t.Context()))
			s, found := h.Bundle("mine")
			if !found {
				t.Fatal("not found")
			}
			eventually(t, string(c.state), func() bool { return s.Status().State == c.state })
			if got := s.Status().Error; !strings.Contains(got, c.reason) ||
				strings.Contains(got, "report this to the plugin author") {
				t.Errorf("reason is %q, want %q in it", got, c.reason)
			}
			if why := h.Unusable(); !strings.Contains(why, "mine is "+string(c.state)) {
				t.Errorf("for a type that is unknown: %q", why)
			}
		})
	}
}

// TestImageSaysWhatItCannotRun: where an interpreter is missing within a container, that is likely the image's lack of
// any, and the page with what to do is named.
func TestImageSaysWhatItCannotRun(t *testing.T) {
	const page = "docs/plugins-install.md"
	for _, contained := range []bool{false, true} {
		opt := testOptions(t)
		opt.Builtins, opt.Dir, opt.Contained = nil, shortDir(t), contained
		must(t, os.WriteFile(filepath.Join(opt.Dir, "mine"), []byte("#!/usr/bin/env-of-nowhere node\n"), 0o755))
		h := newHost(t, opt)
		must(t, h.Discover(t.Context()))
		eventually(t, "broken", func() bool { return h.bundles[0].Status().State == Broken })
		got := h.bundles[0].Status().Error
		const said = "the image of Dogwatch has no shell, Python, Node or C library: " + page
		if strings.Contains(got, said) != contained {
			t.Errorf("contained %t: %q", contained, got)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	must(t, err)
	if !strings.Contains(string(text), "\n## What the image cannot run\n") {
		t.Errorf("%s does not say it", page)
	}
}

// TestStartFailureBlanksSecrets: what a plugin writes about its environment is redacted, as its errors are.
func TestStartFailureBlanksSecrets(t *testing.T) {
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	opt.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	must(t, os.WriteFile(filepath.Join(opt.Dir, "mine"), []byte("#!/bin/sh\necho hunter2 >&2\nexit 1\n"), 0o755))
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	eventually(t, "broken", func() bool { return h.bundles[0].Status().State == Broken })
	if got := h.bundles[0].Status().Error; strings.Contains(got, "hunter2") || !strings.Contains(got, "stderr: ***") {
		t.Errorf("reason is %q", got)
	}
}

// TestWhatCountsInTheFolder: files that no user means to be plugins are passed over; those that
// a user may take for one are listed, with the reason that they do not run.
func TestWhatCountsInTheFolder(t *testing.T) {
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	wireplugin.Write(t, opt.Dir, "lamp", "x")
	wireplugin.Write(t, opt.Dir, "lamp.bak", "x")
	wireplugin.Write(t, opt.Dir, "lamp~", "x")
	wireplugin.Write(t, opt.Dir, "lantern", "x")
	wireplugin.Write(t, opt.Dir, "plain", "x")
	must(t, os.Chmod(filepath.Join(opt.Dir, "plain"), 0o644))
	for _, other := range []string{"README.md", "lamp.sha256", ".lamp.swp"} {
		must(t, os.WriteFile(filepath.Join(opt.Dir, other), []byte("text"), 0o644))
	}
	must(t, os.Mkdir(filepath.Join(opt.Dir, "lantern.d"), 0o755))
	for range 3 { // whichever starts faster
		h := newHost(t, opt)
		must(t, h.Discover(t.Context()))
		want := map[string]string{"lamp": "", "lamp.bak": "it counts as a copy of lamp",
			"lamp~":   "it counts as a copy of lamp",
			"lantern": `type "wire", which is held by lamp (not signed) already`,
			"plain":   "chmod +x " + filepath.Join(opt.Dir, "plain")}
		for _, st := range h.Bundles() {
			reason, listed := want[st.Name]
			if !listed || (st.State == Rejected) != (reason != "") || !strings.Contains(st.Error, reason) {
				t.Errorf("%s is %s: %q, want %q in it", st.Name, st.State, st.Error, reason)
			}
			delete(want, st.Name)
		}
		if len(want) > 0 {
			t.Errorf("not listed: %v", want)
		}
		if s, _, found := h.Find(kind.Trigger, "wire"); !found || s.bundle.name != "lamp" {
			t.Error("the type is not that of the first file")
		}
		h.Close()
	}
}

// TestFileRunsOnceItIsExecutable: the remedy that the list names helps.
func TestFileRunsOnceItIsExecutable(t *testing.T) {
	opt := testOptions(t)
	opt.Builtins, opt.Dir = nil, shortDir(t)
	wireplugin.Write(t, opt.Dir, "plain", "x")
	must(t, os.Chmod(filepath.Join(opt.Dir, "plain"), 0o644))
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	must(t, os.Chmod(filepath.Join(opt.Dir, "plain"), 0o755))
	h.bundles[0].Restart()
	eventually(t, "its type is known", func() bool { _, _, found := h.Find(kind.Trigger, "wire"); return found })
}
