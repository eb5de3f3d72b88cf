package registries_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/plugins/registries/registrysim"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// What docker login keeps serves registries without credentials of their own,
// when the host says where it is, and only the very host.
func TestDockerConfigIsTheDefaultLogin(t *testing.T) {
	private := registrysim.Options{
		Auth: registrysim.Token, Users: map[string]string{user: secret}, Private: func(string) bool { return true },
	}
	sim := registrysim.New(private)
	sim.Push("team/app", "1.0.0")
	mine := start(t, sim)
	other := registrysim.New(private)
	other.Push("team/app", "1.0.0")
	theirs := start(t, other)

	folder := t.TempDir()
	text := fmt.Sprintf(`{"auths":{"http://%s/v1/":{"auth":%q}}}`, mine.Host, auth)
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, filepath.Join(folder, "config.json"), ""} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Setenv("HOME", folder) // says nothing
			t.Setenv("DOGWATCH_REGISTRIES_DOCKERCONFIG", path)
			r, _ := newInstance(t, "oci", nil)
			repo := registry.Repository{Host: mine.Host, Name: "team/app"}
			if list, err := r.Tags(t.Context(), repo, ""); (err == nil && len(list.Tags) == 1) != (path != "") {
				t.Errorf("%+v, %v", list, err)
			}
			want := sdk.Credentials{}
			if path != "" {
				want = sdk.Credentials{Username: user, Password: secret}
			}
			if got, err := r.(registry.CredentialProvider).Credentials(t.Context(), repo); err != nil || got != want {
				t.Errorf("Credentials returns %v, %v; want %v", got, err, want)
			}
			if _, err := r.Tags(t.Context(), registry.Repository{Host: theirs.Host, Name: "team/app"}, ""); err == nil {
				t.Error("another host takes the credentials")
			}
		})
	}
}
