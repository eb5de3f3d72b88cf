package update

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
)

// listed is a container as the engine lists it.
func listed(name string, state container.ContainerState, mounts ...container.MountPoint) container.Summary {
	return container.Summary{ID: strings.Repeat(name[:1], 64), Names: []string{"/" + name}, State: state, Mounts: mounts}
}

func bind(source, destination string) container.MountPoint {
	return container.MountPoint{Type: mount.TypeBind, Source: source, Destination: destination, RW: true}
}

func readOnly(m container.MountPoint) container.MountPoint {
	m.RW = false
	return m
}

// TestGuardRefusesWhatContainersCanWrite covers where Dogwatch sees the files, and who mounts them.
func TestGuardRefusesWhatContainersCanWrite(t *testing.T) {
	// A folder of a real file system, since links in sources are followed where they are seen.
	host, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	check(t, os.MkdirAll(host+"/srv/web/data", 0o755))
	check(t, os.Symlink(host+"/srv/web", host+"/link"))
	const file, stacks = "/srv/web/compose.yml", "/var/lib/docker/volumes/stacks/_data"
	running := func(name string, mounts ...container.MountPoint) container.Summary {
		return listed(name, container.StateRunning, mounts...)
	}
	web := func(source string) container.Summary { return running("web", bind(source, "/x")) }
	dog := func(mounts ...container.MountPoint) container.Summary { return running("dogwatch", mounts...) }
	all := func(all ...container.Summary) []container.Summary { return all }
	volume := container.MountPoint{Type: mount.TypeVolume, Name: "stacks", Source: stacks, Destination: "/data", RW: true}
	tmpfs := container.MountPoint{Type: mount.TypeTmpfs, Destination: "/srv", RW: true}
	beside := host + file
	for name, c := range map[string]struct {
		all     []container.Summary
		file    string
		refused string // the container that the refusal names; "" for none
	}{
		"its folder":           {all(web("/srv/web")), file, "web"},
		"a folder above":       {all(web("/srv")), file, "web"},
		"the whole host":       {all(web("/")), file, "web"},
		"the file itself":      {all(web("/srv/web/.env")), "/srv/web/.env", "web"},
		"a folder below":       {all(web("/srv/web/data")), file, ""},
		"a similar name":       {all(web("/srv/we")), file, ""},
		"read-only":            {all(running("web", readOnly(bind("/srv/web", "/x")))), file, ""},
		"one of two":           {all(running("web", readOnly(bind("/srv", "/x")), bind("/srv/web", "/y"))), file, "web"},
		"a tmpfs":              {all(running("web", tmpfs)), file, ""},
		"stopped":              {all(listed("web", container.StateExited, bind("/srv/web", "/x"))), file, ""},
		"paused":               {all(listed("web", container.StatePaused, bind("/srv/web", "/x"))), file, "web"},
		"trusted":              {all(running("portainer", bind("/srv", "/x"))), file, ""},
		"one beside a trusted": {all(running("portainer", bind("/srv", "/x")), web("/srv/web")), file, "web"},
		"of a volume":          {all(running("web", volume)), stacks + "/1/compose.yml", "web"},
		"its source is a link": {all(web(host + "/link")), beside, "web"},

		// Dogwatch runs in a container.
		"dogwatch alone":          {all(dog(bind("/srv", "/srv"))), file, ""},
		"the same path":           {all(dog(bind("/srv", "/srv")), web("/srv/web")), file, "web"},
		"another path":            {all(dog(bind("/srv/web", "/s")), web("/srv/web")), "/s/compose.yml", "web"},
		"another path, elsewhere": {all(dog(bind("/srv/web", "/s")), web("/s")), "/s/compose.yml", ""},
		"an inner mount": {all(dog(bind("/srv/web", "/s"), bind("/b", "/s/b")), web("/srv/web")),
			"/s/b/c.yml", ""},
		"the outer of two": {all(dog(bind("/b", "/s/b"), bind("/srv/web", "/s")), web("/srv/web")),
			"/s/a/c.yml", "web"},
		"in dogwatch's own files":     {all(dog(bind("/srv", "/srv")), web("/")), "/app/compose.yml", ""},
		"a volume of both":            {all(dog(volume), running("web", volume)), "/data/1/compose.yml", "web"},
		"a link seen at another path": {all(dog(bind("/host", host)), web("/host/link")), beside, "web"},
		"its own mount is a link":     {all(dog(bind("/srv/web", host+"/link")), web("/srv/web")), beside, "web"},
	} {
		t.Run(name, func(t *testing.T) {
			u, self := Updater{ComposeTrusted: []string{"portainer"}}, ""
			for _, one := range c.all {
				if engine.Name(one) == "dogwatch" {
					self = one.ID
				}
			}
			err := u.composeGuard(self, c.all)(c.file)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != (c.refused != "") || !strings.Contains(got, "the container "+c.refused) && err != nil {
				t.Errorf("got %q, want it refused for %q", got, c.refused)
			}
		})
	}
}
