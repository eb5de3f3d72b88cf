package reference

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/registry"
)

func TestIsTag(t *testing.T) {
	long := strings.Repeat("a", 128)
	for _, tag := range []string{"1.0", "latest", "_x", "A-b.c_d", long} {
		if !IsTag(tag) {
			t.Errorf("%q is no tag", tag)
		}
	}
	for _, tag := range []string{"", ".a", "-a", "a/b", "a b", "a\x00", "é", long + "a"} {
		if IsTag(tag) {
			t.Errorf("%q is a tag", tag)
		}
	}
}

func TestIsHub(t *testing.T) {
	for host, want := range map[string]bool{
		"docker.io": true, "index.docker.io": true, "registry-1.docker.io": true, "Docker.IO": true,
		"": false, "hub.docker.com": false, "docker.io:443": false, "auth.docker.io": false, "ghcr.io": false,
	} {
		if IsHub(host) != want {
			t.Errorf("IsHub(%q) is not %v", host, want)
		}
	}
}

func TestIsPattern(t *testing.T) {
	for _, text := range []string{"ghcr.io", "localhost:5000", "*.example.com", "*.example.com:5000", "[::1]:5000"} {
		if !IsPattern(text) {
			t.Errorf("%q is no pattern", text)
		}
	}
	for _, text := range []string{"", "*", "*.", "*.*.com", "a.*.com", ".example.com", "*..com", "https://ghcr.io",
		"ghcr.io/a", "a@b", "a?b", "a b", ":5000"} {
		if IsPattern(text) {
			t.Errorf("%q is a pattern", text)
		}
	}
}

func TestIsHostKeepsTheMeaningOfURLs(t *testing.T) {
	for text, want := range map[string]bool{
		"ghcr.io": true, "localhost:5000": true, "[::1]:5000": true, "my_host": true,
		"": false, ":5000": false, "u@host": false, "host/path": false, "host?q": false, "host#f": false,
		"host:port": false, "a b": false,
	} {
		if IsHost(text) != want {
			t.Errorf("IsHost(%q) is not %v", text, want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	for host, want := range map[string]string{
		"ghcr.io":             "https://ghcr.io/v2",
		"example.com:5000":    "https://example.com:5000/v2",
		"localhost":           "http://localhost/v2",
		"localhost:5000":      "http://localhost:5000/v2",
		"127.1.2.3:5000":      "http://127.1.2.3:5000/v2",
		"[::1]:5000":          "http://[::1]:5000/v2",
		"[::1]":               "http://[::1]/v2",
		"192.168.0.1:5000":    "https://192.168.0.1:5000/v2",
		"localhost.example:1": "https://localhost.example:1/v2",
	} {
		if got := BaseURL(host); got != want {
			t.Errorf("BaseURL(%q) = %q, want %q", host, got, want)
		}
	}
}

// TestSpecificityOrdersPatterns has patterns from the most specific to those that do not match.
func TestSpecificityOrdersPatterns(t *testing.T) {
	const host = "123.dkr.ecr.eu-west-1.amazonaws.com"
	patterns := []string{host, "123.dkr.ecr.*.amazonaws.com", "*.dkr.ecr.eu-west-1.amazonaws.com", "*.amazonaws.com",
		AnyHost}
	last := 1<<20 + 2
	for _, p := range patterns {
		rank := Specificity(registry.Host{Pattern: p}, host)
		if rank <= 0 || rank >= last || rank%2 != 0 {
			t.Errorf("%s ranks %d after %d", p, rank, last)
		}
		last = rank
	}
	for _, p := range []string{"ghcr.io", "*.ghcr.io", "amazonaws.com", ""} {
		if rank := Specificity(registry.Host{Pattern: p}, host); rank != 0 {
			t.Errorf("%s ranks %d, though it does not match", p, rank)
		}
	}
	if Specificity(registry.Host{Pattern: "GHCR.io"}, "ghcr.IO") == 0 {
		t.Error("upper case matters")
	}
}
