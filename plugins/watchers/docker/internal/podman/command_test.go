package podman

import (
	"slices"
	"strings"
	"testing"
)

// TestCommandOf reads the command that created a container.
func TestCommandOf(t *testing.T) {
	for text, want := range map[string]string{
		"podman run -dit --name web -p8080:80 nginx --rm":                 "detach= interactive= name=web publish=8080:80 tty=",
		"/usr/bin/podman --root /x create -e A=1 --env=B=2 -v=a:/b nginx": "env=A=1,B=2 volume=a:/b",
		"podman run --rm=false --read-only --no-hosts -- nginx -p 1":      "no-hosts= read-only= rm=false",
		"podman-remote run --unknown value nginx":                         "unknown=value",
		"podman run -Z":              "Z=",
		"podman system service -t 0": "unseen",
		"":                           "unseen",
	} {
		flags, seen := commandOf(strings.Fields(text))
		var got []string
		for name, values := range flags {
			got = append(got, name+"="+strings.Join(values, ","))
		}
		slices.Sort(got)
		if all := strings.Join(got, " "); seen && all != want || !seen && want != "unseen" {
			t.Errorf("%s: %q, %t; want %q", text, all, seen, want)
		}
	}
}
