package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/registry"
)

// startRegistry starts a real registry without logins that ends with the test, and returns its host.
func startRegistry(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		if strings.Contains(os.Getenv("DOGWATCH_TEST_REQUIRE"), "registry") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	config := filepath.Join(t.TempDir(), "config.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %q}\n",
		t.TempDir(), host)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "serve", config)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", host)
		if err == nil {
			conn.Close()
			return host
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestChartIsPushed from two folders, as a release pushes it: the second makes nothing new, and Helm reads it.
func TestChartIsPushed(t *testing.T) {
	charts := startRegistry(t) + "/charts"
	var digests []string
	for range 2 {
		folder := filepath.Join(t.TempDir(), "dogwatch")
		if err := os.CopyFS(folder, os.DirFS("../../helm/dogwatch")); err != nil {
			t.Fatal(err)
		}
		old := time.Now().AddDate(0, 0, -1-len(digests))
		if err := os.Chtimes(filepath.Join(folder, "values.yaml"), old, old); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		args := []string{"-chart", folder, "-version", "1.2.3", "-time", "2026-01-02T03:04:05+02:00", "-plain-http", charts}
		if err := run(args, &out); err != nil {
			t.Fatal(err)
		}
		digests = append(digests, out.String())
	}
	if digests[0] != digests[1] || !strings.HasPrefix(digests[0], "sha256:") {
		t.Errorf("what was pushed is %q", digests)
	}
	client, err := registry.NewClient(registry.ClientOptPlainHTTP())
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(charts + "/dogwatch:1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if got := pulled.Manifest.Digest + "\n"; got != digests[0] {
		t.Errorf("what is pulled is %s, and what was pushed %s", got, digests[0])
	}
	chart, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
	if err != nil {
		t.Fatal(err)
	}
	if m := chart.Metadata; m.Version != "1.2.3" || m.AppVersion != "1.2.3" || len(chart.Templates) < 5 || chart.Schema == nil {
		t.Errorf("it is %+v, with %d templates", m, len(chart.Templates))
	}
}

func TestPushRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"say -version":       {"-time", "2026-01-02T03:04:05Z", "localhost:1/charts"},
		"parsing time":       {"-version", "1.2.3", "localhost:1/charts"},
		"push localhost:1/c": {"-version", "1.2.3", "-time", "2026-01-02T03:04:05Z", "-chart", "../../helm/dogwatch", "-plain-http", "localhost:1/charts"},
	} {
		if err := run(args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
