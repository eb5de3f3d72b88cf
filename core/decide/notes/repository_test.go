package notes

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestParseRepository(t *testing.T) {
	for text, want := range map[string]string{
		"https://github.com/grafana/grafana":                           "https://github.com/grafana/grafana",
		"https://github.com/grafana/grafana.git":                       "https://github.com/grafana/grafana",
		"https://github.com/docker-library/redis.git#abc:7/alpine":     "https://github.com/docker-library/redis",
		"https://www.github.com/Owner/Name/tree/main/docker":           "https://github.com/Owner/Name",
		"https://github.com/a/b/releases/tag/v1.2":                     "https://github.com/a/b",
		"git@github.com:a/b.git":                                       "https://github.com/a/b",
		"git+https://github.com/a/b.git":                               "https://github.com/a/b",
		"git://github.com/a/b.git":                                     "https://github.com/a/b",
		"github.com/a/b":                                               "https://github.com/a/b",
		"https://gitlab.com/group/sub/app/-/releases":                  "https://gitlab.com/group/sub/app",
		"https://codeberg.org/forgejo/forgejo":                         "https://codeberg.org/forgejo/forgejo",
		"https://gitea.example.org/a/b":                                "https://gitea.example.org/a/b",
		"https://git.example.org:3000/a/b":                             "https://git.example.org:3000/a/b",
		"https://user:password@github.com/a/b":                         "https://github.com/a/b",
		"https://github.com/a":                                         "",
		"https://github.com/sponsors/a":                                "",
		"https://github.com/a/../c":                                    "",
		"https://github.com/a/b%2f..%2fc":                              "https://github.com/a/b",
		"https://github.com/a/b?x=1":                                   "https://github.com/a/b",
		"https://gitlab.com/a/b%3Fx":                                   "",
		"https://example.org/a/b":                                      "",
		"https://github.com.example.org/a/b":                           "",
		"file:///etc/passwd":                                           "",
		"javascript:alert(1)":                                          "",
		"http://169.254.169.254/latest/meta-data":                      "",
		"https://github.com/" + strings.Repeat("a", maxAddress) + "/b": "",
		"": "",
	} {
		r, ok := parseRepository(text, map[string]Forge{"git.example.org:3000": Gitea})
		got := ""
		if ok {
			got = r.URL()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFindOrder(t *testing.T) {
	c := &sdk.Container{
		Labels: map[string]string{"org.opencontainers.image.url": "https://github.com/of/url"},
		Link:   "https://github.com/of/link/releases",
		Image:  sdk.Image{Name: "library/nginx", Registry: sdk.Registry{Host: "docker.io"}},
	}
	for _, want := range []string{"of/link", "nginx/nginx", "of/source", "of/url", ""} {
		if want == "of/source" {
			c.Labels["org.opencontainers.image.source"] = "https://github.com/of/source"
		}
		if r, by, _ := Find(c, "", nil); r.Path != want {
			t.Errorf("%s was found by %s, want %s", r.Path, by, want)
		}
		switch want {
		case "of/link":
			c.Link = ""
		case "nginx/nginx":
			c.Image.Name = "me/unknown"
		case "of/source":
			delete(c.Labels, "org.opencontainers.image.source")
		case "of/url":
			c.Labels = map[string]string{}
		}
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]bool{
		"v1.2.3": true, "1.2": true, "release-1.2": true, "app-11.0.0": true, "RELEASE.2024-01-02T00-00-00Z": true,
		"4.0.9.2244-ls240": true, "latest": false, "helm-chart-1.2.3": false, "chart-1.2.3": false, "": false,
		"sha256:12": false,
	} {
		if _, got := parseVersion(text, "app"); got != want {
			t.Errorf("%q is a version: %t", text, got)
		}
	}
	rising := []string{"1.2.3-beta.2", "1.2.3-beta.10", "1.2.3-rc.1", "v1.2.3", "1.2.10", "1.10", "2"}
	for i := range rising[1:] {
		a, _ := parseVersion(rising[i])
		b, _ := parseVersion(rising[i+1])
		if a.compare(b) >= 0 || b.compare(a) <= 0 {
			t.Errorf("%s is not below %s", rising[i], rising[i+1])
		}
	}
}

func TestChoose(t *testing.T) {
	all := []release{{Tag: "v3.0.0-rc.1"}, {Tag: "v2.1.0", Prerelease: true}, {Tag: "v1.9.2"}, {Tag: "v2.0.1"}, {
		Tag: "chart-9.0.0",
	}, {Tag: "v2.0.0"}, {Tag: "v1.9.1"}, {Tag: "v1.9.0"}}
	tests := []struct {
		running, offered, want string
		incomplete             bool
	}{
		{"1.9.0", "2.0.1", "v2.0.1 v2.0.0 v1.9.2 v1.9.1", false},
		{"1.9.1", "1.9.2", "v1.9.2", false},
		{"1.8.0", "2", "v2.0.1 v2.0.0 v1.9.2 v1.9.1 v1.9.0", true},
		{"2.0.1", "3.0.0-rc.1", "v3.0.0-rc.1 v2.1.0", false},
		{"2.0.0", "", "v2.0.1", false}, // rebuilt: what is newer than what runs
		{"", "2.0", "v2.0.1 v2.0.0", false},
		{"", "", "", false},
	}
	for _, test := range tests {
		n := Notes{Running: test.running, Offered: test.offered}
		n.choose(all, Repository{Forge: GitHub, Host: "github.com", Path: "a/app"}, []string{"app"})
		if versions(n) != test.want || n.Incomplete != test.incomplete {
			t.Errorf("%s to %s: %q, incomplete %t", test.running, test.offered, versions(n), n.Incomplete)
		}
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct{ body, breaking, action string }{
		{"# Breaking changes\n\n- The API is gone\n- So is X\n\n# Fixes\n- y", "The API is gone|So is X", ""},
		{"# Breaking changes\n\nSee the guide.\n\n## Before upgrading\n\n# Fixes\n- y", "Breaking changes",
			"Before upgrading"},
		{"- feat!: another port\n- fix: z", "feat!: another port", ""},
		{"**You must run the migration first.**", "", "You must run the migration first."},
		{"There are no breaking changes.\nNo action required.", "", ""},
		{"- groundbreaking speed", "", ""},
	}
	for _, test := range tests {
		b, a := warnings(test.body)
		if strings.Join(b, "|") != test.breaking || strings.Join(a, "|") != test.action {
			t.Errorf("%q: %q and %q", test.body, b, a)
		}
	}
	if b, _ := warnings(strings.Repeat("breaking "+strings.Repeat("x", 1000)+"\n", 100)); len(b) != 1 ||
		len(b[0]) > maxWarning {
		t.Errorf("%d lines, the first of %d bytes", len(b), len(b[0]))
	}
}

// TestFindKnown: what is known of an image comes before its labels and the table, and after a link.
func TestFindKnown(t *testing.T) {
	image := sdk.Image{Name: "library/nginx", Registry: sdk.Registry{Host: "docker.io"}}
	c := &sdk.Container{Image: image,
		Labels: map[string]string{"org.opencontainers.image.source": "https://github.com/of/source"}}
	if r, by, _ := Find(c, "https://github.com/of/preset", nil); r.Path != "of/preset" || by != "image" {
		t.Errorf("%s was found by %s", r.Path, by)
	}
	c.Link = "https://github.com/of/link/releases"
	if r, by, _ := Find(c, "https://github.com/of/preset", nil); r.Path != "of/link" || by != "link" {
		t.Errorf("%s was found by %s", r.Path, by)
	}
}
