package lookup

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func fleet() []sdk.Container {
	c := func(watcher, name, id, display, host, image, tag string) sdk.Container {
		return sdk.Container{Watcher: watcher, Name: name, ID: id, DisplayName: display,
			Image: sdk.Image{Registry: sdk.Registry{Host: host}, Name: image, Tag: sdk.Tag{Value: tag}}}
	}
	return []sdk.Container{
		c("local", "web", "3f2a9c0011", "Front page", "docker.io", "library/nginx", "1.25"),
		c("nas", "web", "3f2b000000", "web", "docker.io", "library/nginx", "1.27"),
		c("local", "grafana", "77aa00", "Grafana: metrics", "docker.io", "grafana/grafana", "11.0.0"),
		c("local", "beef", "cafe001122", "beef", "ghcr.io", "me/app", "2"),
		c("local", "app-1", "beef001122", "app-1", "ghcr.io", "me/app", "latest"),
	}
}

func TestContainers(t *testing.T) {
	tests := []struct{ name, want string }{
		{"web", "local/web nas/web"},
		{"local/web", "local/web"},
		{"/grafana", "local/grafana"},
		{"grafana", "local/grafana"},
		{"front PAGE", "local/web"},
		{"Grafana: metrics", "local/grafana"},
		{"3f2a9c0011", "local/web"},
		{"3f2a", "local/web"},
		{"3f2", ""},
		{"beef", "local/beef"}, // the name, though an id begins so
		{"beef0", "local/app-1"},
		{"nginx", "local/web nas/web"},
		{"nginx:1.25", "local/web"},
		{"docker.io/library/nginx:1.27", "nas/web"},
		{"nginx:1.26", ""},
		{"ghcr.io/me/app", "local/beef local/app-1"},
		{"me/app", ""},     // of Docker Hub
		{"Web", "nas/web"}, // its display name
		{"nas/grafana", ""},
		{"", ""},
		{"  ", ""},
	}
	for _, test := range tests {
		var got []string
		for _, c := range Containers(fleet(), test.name) {
			got = append(got, Qualified(c))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q is %q, want %q", test.name, got, test.want)
		}
	}
}

func TestOne(t *testing.T) {
	twins := append(fleet(), fleet()[0])
	twins[len(twins)-1].ID = "aaaa00000000000000"
	tests := []struct {
		all        []sdk.Container
		name, want string
	}{
		{fleet(), "grafana", ""},
		{fleet(), "grafna", `there is no container "grafna": did you mean grafana?`},
		{fleet(), "frontpage", `did you mean Front page?`},
		{fleet(), "local/gafana", `did you mean local/grafana?`},
		{fleet(), "something", `there is no container "something"`},
		{fleet(), "web", `"web" can be local/web or nas/web: say which`},
		{twins, "local/web", `"local/web" can be 3f2a9c0011 or aaaa00000000: say which`},
		{nil, "web", `there is no container "web"`},
	}
	for _, test := range tests {
		_, err := One(test.all, test.name)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasSuffix(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.name, err, test.want)
		}
	}
}
