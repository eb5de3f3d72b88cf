package packaging_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what is read of one of GitHub's.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Timeout     int `yaml:"timeout-minutes"`
		Permissions map[string]string
		Env         map[string]string
		Steps       []struct {
			Uses, Run string
			With      map[string]any
		}
	}
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) != 2 {
		t.Fatalf("there are %q (%v)", files, err)
	}
	all := map[string]workflow{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = w
	}
	return all
}

// TestWorkflowsTrustNobody: actions are pinned by digest, tokens may read only, where a job does not say more, and
// what they run is in the repository.
func TestWorkflowsTrustNobody(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	file := regexp.MustCompile(`(?:packaging|\.ci)/[\w./-]+`)
	for name, w := range workflows(t) {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s has the permissions %v", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 {
				t.Errorf("%s: %s has no time limit", name, id)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s uses %s, which may change: pin it by digest", name, step.Uses)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s leaves the token of the checkout where tests find it", name)
				}
				// An expression in a script is a script of whoever writes what it stands for.
				if strings.Contains(strings.ReplaceAll(step.Run, "${{ steps.", ""), "${{") {
					t.Errorf("%s: give it by env: %s", name, step.Run)
				}
				for _, path := range file.FindAllString(step.Run, -1) {
					if _, err := os.Stat(filepath.Join("..", path)); err != nil {
						t.Errorf("%s runs %s: %v", name, path, err)
					}
				}
			}
		}
	}
}

// TestReleaseWorkflowPublishesLast: whatever fails leaves a draft. Its steps of this machine are run by TestRelease.
func TestReleaseWorkflowPublishesLast(t *testing.T) {
	job := workflows(t)["release.yml"].Jobs["release"]
	want := []string{
		"go build -C packaging/goreleaser", "docker login", "sh packaging/release.sh", "cosign sign", "gh release edit",
	}
	for _, step := range job.Steps {
		if step.Run != "" && (len(want) == 0 || !strings.Contains(step.Run, want[0])) {
			t.Fatalf("want %q next, got %s", want, step.Run)
		}
		if step.Run != "" {
			want = want[1:]
		}
	}
	if last := job.Steps[len(job.Steps)-1].Run; len(want) > 0 || !strings.Contains(last, "--draft=false") {
		t.Errorf("%q are missing, and the last step is %s", want, last)
	}
	text, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil || !strings.Contains(string(text), "\n  draft: true") {
		t.Errorf("the release is no draft (%v)", err)
	}
}
