package compose

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestLocateFindsTheFilesOfAContainer(t *testing.T) {
	there := func(paths ...string) Reader {
		return func(path string) ([]byte, error) {
			for _, p := range paths {
				if p == path {
					return []byte("services: {}"), nil
				}
			}
			return nil, fs.ErrNotExist
		}
	}
	for name, c := range map[string]struct {
		labels   map[string]string
		fallback string
		read     Reader
		want     Project
		code     string
	}{
		"one file": {
			labels: map[string]string{LabelService: "web", labelFiles: "/srv/a/compose.yml", labelWorkingDir: "/srv/a"},
			read:   there("/srv/a/compose.yml"),
			want: Project{
				Service: "web", Files: []string{"/srv/a/compose.yml"}, WorkingDir: "/srv/a", EnvFiles: []string{"/srv/a/.env"},
			},
		},
		"relative files of Compose 1": {
			labels: map[string]string{labelFiles: "a.yml, b.yml", labelWorkingDir: "/srv"},
			read:   there("/srv/a.yml", "/srv/b.yml"),
			want:   Project{Files: []string{"/srv/a.yml", "/srv/b.yml"}, WorkingDir: "/srv", EnvFiles: []string{"/srv/.env"}},
		},
		"a comma in the name": {
			labels: map[string]string{labelFiles: "/srv/a,b.yml", labelWorkingDir: "/srv"},
			read:   there("/srv/a,b.yml"),
			want:   Project{Files: []string{"/srv/a,b.yml"}, WorkingDir: "/srv", EnvFiles: []string{"/srv/.env"}},
		},
		"named env files": {
			labels: map[string]string{labelFiles: "/srv/a.yml", labelWorkingDir: "/srv", labelEnvFiles: "/srv/a.env,b.env"},
			read:   there("/srv/a.yml"),
			want: Project{
				Files: []string{"/srv/a.yml"}, WorkingDir: "/srv", EnvFiles: []string{"/srv/a.env", "/srv/b.env"}, Named: true,
			},
		},
		"a label of WUD wins": {
			labels: map[string]string{"wud.compose.file": "/w.yml", labelFiles: "/srv/a.yml", labelWorkingDir: "/srv"},
			read:   there("/w.yml", "/srv/a.yml"),
			want:   Project{Files: []string{"/w.yml"}, WorkingDir: "/srv", EnvFiles: []string{"/srv/.env"}},
		},
		"our label wins over that of WUD": {
			labels: map[string]string{"wud.compose.file": "/w.yml", "dogwatch.compose.file": "/d.yml"},
			read:   there("/w.yml", "/d.yml"),
			want:   Project{Files: []string{"/d.yml"}, WorkingDir: "/", EnvFiles: []string{"/.env"}},
		},
		"the configured file": {
			fallback: "/srv/a.yml", read: there("/srv/a.yml"),
			want: Project{Files: []string{"/srv/a.yml"}, WorkingDir: "/srv", EnvFiles: []string{"/srv/.env"}},
		},
		"no file":        {read: there(), code: FileMissing},
		"not mounted":    {labels: map[string]string{labelFiles: "/srv/a.yml"}, read: there(), code: FileMissing},
		"standard input": {labels: map[string]string{labelFiles: "-"}, read: there(), code: FileRemote},
		"an artifact": {
			labels: map[string]string{labelFiles: "oci://user:geheim@registry.example.org/a"}, read: there(), code: FileRemote,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Locate(c.labels, c.fallback, c.read)
			if codeOf(err) != c.code || (err == nil) != (c.code == "") || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v, %q", got, err, c.want, c.code)
			}
			if err != nil && strings.Contains(err.Error(), "geheim") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestLocateNamesTheMissingMount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stack")
	_, err := Locate(map[string]string{labelFiles: dir + "/compose.yml"}, "", nil)
	if err == nil || !strings.Contains(err.Error(), "mount the directory "+dir+" of the host at "+dir) {
		t.Errorf("got %v", err)
	}
}

func TestReadFileRefusesWhatIsNoFile(t *testing.T) {
	if _, err := ReadFile(t.TempDir()); codeOf(err) != FileInvalid {
		t.Errorf("a directory: %v", err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(large); codeOf(err) != FileInvalid {
		t.Errorf("a large file: %v", err)
	}
}

func TestEditFindsTheServiceByItsImage(t *testing.T) {
	for text, want := range map[string]string{
		"services: {a: {image: nginx:1.25}, b: {image: redis:7}}":    "",
		"services: {a: {image: nginx:1.25}, b: {image: nginx:1.25}}": ServiceAmbiguous,
		"services: {a: {image: nginx:1.24}}":                         ServiceUnknown,
	} {
		read := func(path string) ([]byte, error) {
			if path != "/c.yml" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}
		c, err := Edit(Project{Files: []string{"/c.yml"}, WorkingDir: "/"}, "nginx:1.25", "nginx:1.26", read)
		if codeOf(err) != want || want == "" && (err != nil || c.New != "nginx:1.26") {
			t.Errorf("%s: got %+v, %v, want %q", text, c, err, want)
		}
	}
}
