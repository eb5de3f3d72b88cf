package packaging_test

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// testContents reads what an archive contains as SPDX 2.3, https://spdx.github.io/spdx-spec/v2.3/, and compares it with
// what the program in it was built from. That it is the same in another folder is compared by testReproducible.
func testContents(t *testing.T, c checkout) {
	if os.Getenv(syft) == "" {
		plugintest.Skip(t, "syft", syft+" is not set")
	}
	name := "dogwatch_" + version + "_linux_amd64.tar.gz"
	var document struct {
		SPDXVersion, DocumentNamespace string
		CreationInfo                   struct{ Created string }
		Packages                       []struct{ Name, VersionInfo, LicenseConcluded string }
	}
	if err := json.Unmarshal([]byte(c.read(t, "dist/"+name+".spdx.json")), &document); err != nil {
		t.Fatal(err)
	}
	sums := c.read(t, "dist/SHA256SUMS")
	_, sum, _ := strings.Cut(document.DocumentNamespace, name+"-")
	if document.SPDXVersion != "SPDX-2.3" || document.CreationInfo.Created != "2026-01-02T03:04:05Z" || sum == "" ||
		!strings.Contains(sums, sum+"  "+name+"\n") || !strings.Contains(sums, "  "+name+".spdx.json\n") {
		t.Errorf("the document is %s, %+v, %s\n%s", document.SPDXVersion, document.CreationInfo, document.DocumentNamespace, sums)
	}
	licences := map[string]string{}
	for _, p := range document.Packages {
		licences[p.Name+" "+p.VersionInfo] = p.LicenseConcluded
	}
	if _, listed := licences["dogwatch "+version]; !listed {
		t.Errorf("dogwatch %s is not what it is the list of", version)
	}
	info, err := buildinfo.ReadFile(c.path("dist/linux_linux_amd64_v1/dogwatch"))
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for _, m := range info.Deps {
		switch licence, listed := licences[m.Path+" "+m.Version]; {
		case !listed:
			t.Errorf("%s %s is not listed", m.Path, m.Version)
		case licence == "" || licence == "NOASSERTION":
			unknown = append(unknown, m.Path)
		}
	}
	if len(info.Deps) == 0 || len(unknown) > 0 {
		t.Errorf("of %d modules there is no licence of %q", len(info.Deps), unknown)
	}
}

// TestListsAreOfEachArchive: the lists of contents are made of what is released, by what is in the repository, and have
// checksums, which are signed. Where a Syft is named, TestRelease makes them.
func TestListsAreOfEachArchive(t *testing.T) {
	text, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		SBOMs []struct {
			ID, Artifacts, Cmd   string
			Documents, Args, Env []string
		} `yaml:"sboms"`
		Checksum struct{ IDs []string }
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.SBOMs) != 1 || !slices.Contains(config.Checksum.IDs, config.SBOMs[0].ID) {
		t.Fatalf("the lists are %+v, and there are checksums of %q", config.SBOMs, config.Checksum.IDs)
	}
	list := config.SBOMs[0]
	if list.Artifacts != "archive" || list.Cmd != "sh" || len(list.Args) != 5 || list.Args[1] != "$artifact" ||
		list.Args[2] != "$document" || len(list.Env) != 1 || len(list.Documents) != 1 ||
		!strings.HasSuffix(list.Documents[0], ".spdx.json") {
		t.Errorf("the lists are %+v", list)
	}
	if _, err := os.Stat(filepath.Join("..", "dist", list.Args[0])); err != nil {
		t.Errorf("run in the folder dist: %v", err)
	}
}
