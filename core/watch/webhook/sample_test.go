package webhook

import (
	"strings"
	"testing"
)

// TestSamplesAreDeliveries: what a test sends is read as a delivery of its sender, and has the secret.
func TestSamplesAreDeliveries(t *testing.T) {
	for _, format := range Formats() {
		host := map[string]string{
			"ghcr": "ghcr.io", "dockerhub": "docker.io", "quay": "quay.io", "gitlab": "registry.gitlab.com",
		}[format]
		if host == "" {
			host = "registry.example:5000"
		}
		seen := map[string]bool{}
		for range 2 {
			header, body, err := Sample(format, host+"/owner/name:1.0", secret)
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			d, err := Parse(header, body)
			if err != nil || d.Format != format || len(d.Images) != 1 || !d.Images[0].concerns(host, "owner/name") {
				t.Errorf("%s: %+v, %v", format, d, err)
			}
			if !(Hook{Secret: secret}).authentic(header, "", body) || (Hook{Secret: "another"}).authentic(header, "", body) {
				t.Errorf("%s: the secret does not tell", format)
			}
			if seen[d.ID] {
				t.Errorf("%s: a second sample is a replay of the first", format)
			}
			seen[d.ID] = true
		}
	}
	for _, c := range []struct{ format, image, want string }{
		{"jenkins", "ghcr.io/a/b", "there is no format"},
		{"ghcr", "nginx", "about images of ghcr.io, not of docker.io"}, {"plain", "?", "is no image"},
	} {
		if _, _, err := Sample(c.format, c.image, secret); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want %q", c.format, c.image, err, c.want)
		}
	}
}
