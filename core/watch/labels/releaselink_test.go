package labels

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/sdk"
)

// running is a container as discovery leaves it, with what its labels ask for.
func running(image string, labels ...string) (sdk.Container, Labels) {
	c := container("web", image, labels...)
	p := Read(label.Of(c), Options{WatchByDefault: true})
	p.Apply(&c)
	return c, p
}

// TestLinksLeadToWebPages: whatever an image's label says, no other link comes of it, and the label is named.
func TestLinksLeadToWebPages(t *testing.T) {
	for text, want := range map[string]string{
		"https://r.example/${raw}":                "https://r.example/2.0.0",
		" http://nas.lan:8080/${major}#${minor} ": "http://nas.lan:8080/2#0",
		"javascript:alert('${raw}')":              "",
		"JAVASCRIPT:alert(1)":                     "",
		"${container.labels.scheme}:alert(1)":     "",
		"data:text/html,${raw}":                   "",
		"vbscript:x":                              "",
		"file:///etc/passwd":                      "",
		"r.example/${raw}":                        "",
		"//r.example/${raw}":                      "",
		"https://r.example/\u202egpj/${raw}":      "",
	} {
		c, p := running("example.org/team/web:1.0.0", "dogwatch.link.template="+text, "scheme=javascript")
		c.Result = &sdk.Result{Tag: "2.0.0", Levels: &sdk.Levels{Major: &sdk.Release{Tag: "2.0.0"}}}
		err := p.WriteReleaseLinks(&c)
		major := ""
		if c.Result.Levels.Major != nil {
			major = c.Result.Levels.Major.Link
		}
		if c.Result.Link != want || major != want || (c.Link == "") != (want == "") {
			t.Errorf("%s: %q, %q and %q, want %q", text, c.Link, c.Result.Link, major, want)
		}
		if want == "" &&
			(err == nil ||
				!strings.Contains(err.Error(),
					"label dogwatch.link.template: want an address that starts with https:// or http://")) {
			t.Errorf("%s: %v", text, err)
		}
		if want != "" && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLinkThatIsEmpty: a template may say that there is none.
func TestLinkThatIsEmpty(t *testing.T) {
	c, p := running("example.org/team/web:1.0.0", "dogwatch.link.template=${prerelease}")
	c.Result = &sdk.Result{Tag: "2.0.0"}
	if err := p.WriteReleaseLinks(&c); err != nil || c.Link != "" || c.Result.Link != "" {
		t.Errorf("%q, %q, %v", c.Link, c.Result.Link, err)
	}
}

func TestDisplayLabelsAreReadable(t *testing.T) {
	for text, want := range map[string]string{
		"mdi:docker": "mdi:docker", "si-nginx": "si-nginx", "hl:home-assistant.svg": "hl:home-assistant.svg",
		"https://example.org/i.png": "https://example.org/i.png",
		"javascript:x":              "mdi:docker", "data:image/svg+xml,<svg/>": "mdi:docker",
		"vbscript:x": "mdi:docker", "mdi:x\" onerror=": "mdi:docker", "file:///a": "mdi:docker",
		"mdi:\u202edocker": "mdi:docker",
	} {
		found := container("web", "nginx:1.0")
		p := Read(label.Set{
			Operator: map[string]string{"dogwatch.display.icon": text, "dogwatch.display.name": "we\u202eb\n1"},
		}, Options{WatchByDefault: true})
		p.Apply(&found)
		if found.DisplayIcon != want || found.DisplayName != "web 1" {
			t.Errorf("%s: %q, %q", text, found.DisplayIcon, found.DisplayName)
		}
		if refused := strings.Contains(strings.Join(p.Notes, "\n"),
			"label dogwatch.display.icon: want the name of an icon"); refused != (text != want) {
			t.Errorf("%s: %q", text, p.Notes)
		}
	}
}
