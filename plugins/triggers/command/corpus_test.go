package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TestCommandsOfTheCorpus runs the command lines that users gave to What's Up Docker.
func TestCommandsOfTheCorpus(t *testing.T) {
	c := sdk.Container{ID: "c1", Name: "sonarr", DisplayName: "Sonarr TV", Watcher: "local", Image: sdk.Image{
		Name: "linuxserver/sonarr", Tag: sdk.Tag{Value: "4.0.14"},
	},
		Result: &sdk.Result{Tag: "4.0.15", Digest: "sha256:d"}, UpdateAvailable: true,
		UpdateKind: sdk.UpdateKind{Kind: sdk.KindTag, LocalValue: "4.0.14", RemoteValue: "4.0.15", SemverDiff: sdk.DiffPatch}}
	script := filepath.Join(t.TempDir(), "update.sh")
	if err := os.WriteFile(script, []byte("echo \"updating $1 from $2\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for cmd, want := range map[string]string{
		`echo "${display_name} can be updated to ${update_kind_remote_value}"`: "Sonarr TV can be updated to 4.0.15",
		`echo ${display_name} can be updated to ${update_kind_remote_value}`:   "Sonarr TV can be updated to 4.0.15",
		`sh ` + script + ` "$name" "$image_name"`:                              "updating sonarr from linuxserver/sonarr",
		// What an updater and a script read of the environment.
		`echo "$update_available $image_name $image_tag_value $name $update_kind_kind $update_kind_remote_value $result_tag $result_digest"`: "true linuxserver/sonarr 4.0.14 sonarr tag 4.0.15 4.0.15 sha256:d",
		`echo "$update_kind_local_value"; echo "$container_json" | head -c 30`:                                                               `{\"id\":\"c1\",\"name\":\"sonarr\"`,
		// Compose takes one of the two dollar signs away. Outside of it the shell makes its process id of them.
		`echo $${display_name}`: "{display_name}",
	} {
		log, err := run(t, t.Context(), map[string]any{"cmd": cmd}, trigger.Request{
			Title: "t", Body: "b", Containers: []sdk.Container{c},
		})
		if err != nil || !strings.Contains(log, want) && !strings.Contains(log, strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%s: %v, the log says %s, want %s", cmd, err, log, want)
		}
	}
}
