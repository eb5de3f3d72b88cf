package sdk

import (
	"regexp"
	"slices"
	"testing"
	"time"
)

// The keys that WUD 8.3.1 makes of labels.
func TestFlattenLabelKeys(t *testing.T) {
	tests := map[string]string{
		"wud.watch": "labels_wud_watch",
		"com.docker.compose.project.config_files": "labels_com_docker_compose_project_config_files",
		"org.opencontainers.image.title":          "labels_org_opencontainers_image_title",
		"A-B_c":                                   "labels_a_b_c",
		"camelCase":                               "labels_camel_case",
		"HTTPServer.v2Beta":                       "labels_http_server_v2_beta",
		"1x":                                      "labels_1x",
		"ünï":                                     "labels_n",
		"_":                                       "labels_",
		"AABbCc":                                  "labels_aa_bb_cc",
		"x1Y":                                     "labels_x1_y",
		"--a--":                                   "labels_a",
	}
	for label, want := range tests {
		flat := Container{Labels: map[string]string{label: "v"}}.Flatten()
		if !slices.Contains(flat, Flat{want, "v"}) {
			t.Errorf("%q: %v has no %s", label, flat, want)
		}
	}
}

// The example of WUD's reference, with what Dogwatch adds.
func TestFlatten(t *testing.T) {
	created := time.Date(2023, 6, 13, 7, 15, 33, 483e6, time.UTC)
	c := Container{
		ID: "c1", Name: "my.app", DisplayName: "my.app", DisplayIcon: "mdi:docker", Status: "running", Watcher: "local",
		LinkTemplate: "https://rel/${major}.${minor}", Link: "https://rel/1.25", IncludeTags: `^\d+$`,
		Image: Image{
			ID: "sha256:i", Registry: Registry{Name: "hub.public", URL: "https://registry-1.docker.io/v2", Host: "docker.io"},
			Name: "library/nginx", Tag: Tag{Value: "1.25.0", Semver: true},
			Digest:       Digest{Repo: "sha256:d", Repos: []string{"x"}},
			Architecture: "amd64", OS: "linux", Created: TimeOf(created),
		},
		Labels:          map[string]string{"wud.watch": "true", "a.b": "first", "a_b": "last", "empty": "", "html": "<&>"},
		Result:          &Result{Tag: "1.26.0", Link: "https://rel/1.26"},
		Error:           &ContainerError{Message: "no"},
		Check:           CheckState{State: CheckOK},
		UpdateAvailable: true,
		UpdateKind:      UpdateKind{Kind: KindTag, LocalValue: "1.25.0", RemoteValue: "1.26.0", SemverDiff: DiffMinor},
	}
	want := []Flat{
		{"id", "c1"}, {"name", "my.app"}, {"display_name", "my.app"}, {"display_icon", "mdi:docker"}, {"status", "running"},
		{"watcher", "local"}, {"include_tags", `^\d+$`}, {"link_template", "https://rel/${major}.${minor}"},
		{"link", "https://rel/1.25"},
		{"image_id", "sha256:i"}, {"image_registry_name", "hub.public"},
		{"image_registry_url", "https://registry-1.docker.io/v2"},
		{"image_registry_host", "docker.io"}, {"image_name", "library/nginx"}, {"image_tag_value", "1.25.0"},
		{"image_tag_semver", true},
		{"image_digest_watch", false}, {"image_digest_repo", "sha256:d"}, {"image_architecture", "amd64"},
		{"image_os", "linux"},
		{"image_created", "2023-06-13T07:15:33.483Z"},
		{"labels_a_b", "last"}, {"labels_empty", ""}, {"labels_html", "<&>"}, {"labels_wud_watch", "true"},
		{"result_tag", "1.26.0"}, {"result_link", "https://rel/1.26"}, {"error_message", "no"}, {"check_state", "ok"},
		{"update_available", true}, {"update_kind_kind", "tag"}, {"update_kind_local_value", "1.25.0"},
		{"update_kind_remote_value", "1.26.0"}, {"update_kind_semver_diff", "minor"},
	}
	if got := c.Flatten(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestFlattenZeroContainer(t *testing.T) {
	want := []Flat{{"id", ""}, {"name", ""}, {"watcher", ""}, {"update_available", false}}
	if got := (Container{}).Flatten(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func FuzzFlatten(f *testing.F) {
	f.Add("a.b", "v")
	f.Add("\xff\x00", "\xff")
	key := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]*)*$`)
	f.Fuzz(func(t *testing.T, label, value string) {
		for _, flat := range (Container{Labels: map[string]string{label: value}}).Flatten() {
			if !key.MatchString(flat.Key) {
				t.Errorf("label %q makes the key %q", label, flat.Key)
			}
		}
	})
}

func BenchmarkFlatten(b *testing.B) {
	c := Container{
		ID: "c", Name: "n",
		Labels: map[string]string{"com.docker.compose.project": "p", "com.docker.compose.service": "s"},
		Result: &Result{Tag: "1"},
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Flatten()
	}
}

func TestFlattenNumbersTheItemsOfLists(t *testing.T) {
	c := Container{
		Decision: &Decision{
			State: StateHeld, Reasons: []Reason{{Code: "age.min", Text: "young"}, {Code: "freeze", Text: "frozen"}},
		},
	}
	got := map[string]any{}
	for _, f := range c.Flatten() {
		got[f.Key] = f.Value
	}
	for key, want := range map[string]any{
		"decision_state": "held", "decision_reasons_0_code": "age.min", "decision_reasons_1_text": "frozen",
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}
