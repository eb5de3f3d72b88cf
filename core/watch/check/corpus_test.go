package check

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
	"github.com/dogwatch/dogwatch/core/decide/tag"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestCorpusLinks puts every link template that users really have on a
// container that has an update: there is a link to the running and to the newer
// version, or an error that names the label and what is wrong with it. The
// container is checked in any case.
func TestCorpusLinks(t *testing.T) {
	data, err := os.ReadFile("../../config/template/testdata/links.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct{ Templates []string }
	if err := json.Unmarshal(data, &corpus); err != nil || len(corpus.Templates) < 100 {
		t.Fatalf("%d templates, %v", len(corpus.Templates), err)
	}
	refused := 0
	for _, text := range corpus.Templates {
		c, p := running("example.org/team/web:v1.2.3-alpine", "wud.link.template="+text)
		after := answered(c, p, candidate.Answer{Selection: tag.Selection{Tag: "v2.5.7-alpine", Newer: true, Kept: 1}}, noon)
		if !after.UpdateAvailable || after.Check.State != sdk.CheckOK {
			t.Fatalf("%s: %+v", text, after)
		}
		if after.Error != nil {
			refused++
			contains(t, text, after.Error.Message, "label wud.link.template: unknown name",
				"known: container, major, minor, original")
			continue
		}
		for what, link := range map[string]string{"v1.2.3-alpine": after.Link, "v2.5.7-alpine": after.Result.Link} {
			if !strings.HasPrefix(link, "http") || strings.ContainsAny(link, "${}") || strings.Contains(link, "undefined") {
				t.Errorf("%s: the link of %s is %q", text, what, link)
			}
		}
		if fixed := !strings.Contains(text, "${"); fixed != (after.Link == after.Result.Link) {
			t.Errorf("%s: %s and %s", text, after.Link, after.Result.Link)
		}
	}
	if refused != 6 { // ${tag} five times, and ${commit}
		t.Errorf("%d templates are refused", refused)
	}
}
