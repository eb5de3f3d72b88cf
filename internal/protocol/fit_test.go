package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// TestContainerWithTooManyLabelsFits: one container does not cost the whole list, whoever wrote its labels.
func TestContainerWithTooManyLabelsFits(t *testing.T) {
	many := func(prefix string, n int) map[string]string {
		labels := map[string]string{}
		for i := range n {
			labels[fmt.Sprintf("%s%03d", prefix, i)] = "x"
		}
		return labels
	}
	with := func(labels map[string]string, name, value string) map[string]string {
		labels = maps.Clone(labels)
		labels[name] = value
		return labels
	}
	large := strings.Repeat("x", MaxLabel)
	for name, test := range map[string]struct {
		labels  map[string]string
		ofImage []string
		lost    []string
		says    string
	}{
		"the most": {labels: with(many("a", MaxLabels-1), "full", large[4:])},
		"one too many": {labels: many("a", MaxLabels+1), lost: []string{"a256"},
			says: "1 of its labels are not read, such as a256: a container may have 256 labels of 16 KiB each"},
		"one too large": {labels: with(many("a", 3), "large", large), lost: []string{"large"},
			says: "1 of its labels are not read, such as large"},
		"the image's too many": {labels: with(many("a", MaxLabels), "rule", "x"),
			ofImage: slices.Sorted(maps.Keys(many("a", MaxLabels))), lost: []string{"a255"}},
		"the image's too large": {labels: with(many("a", 3), "large", large),
			ofImage: []string{"large", "a000"}, lost: []string{"large"}},
		"both": {labels: with(with(many("a", 3), "large", large), "rule", large),
			ofImage: []string{"large"}, lost: []string{"large", "rule"}, says: "such as rule"},
		"the image's names only": {labels: many("a", 3), ofImage: []string{"not there"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &pluginv1.Container{Labels: maps.Clone(test.labels), ImageLabels: slices.Clone(test.ofImage)}
			before := c.Labels
			FitContainer(c)
			if !maps.Equal(before, test.labels) {
				t.Error("the plugin's own map was changed")
			}
			var lost []string
			for name := range test.labels {
				if _, kept := c.Labels[name]; !kept {
					lost = append(lost, name)
				}
			}
			slices.Sort(lost)
			named := slices.ContainsFunc(c.ImageLabels, func(n string) bool { return slices.Contains(lost, n) })
			if !slices.Equal(lost, test.lost) || named {
				t.Errorf("lost %v, want %v; of the image are %v", lost, test.lost, c.ImageLabels)
			}
			if (c.Error == "") != (test.says == "") || !strings.Contains(c.Error, test.says) {
				t.Errorf("says %q, want %q", c.Error, test.says)
			}
			b, err := proto.Marshal(&pluginv1.ListResponse{Containers: []*pluginv1.Container{c}})
			if err != nil {
				t.Fatal(err)
			}
			if err := NewAnswer(listMethod, new(Held)).Unmarshal(b, &pluginv1.ListResponse{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestImageConfigWithTooManyLabelsFits(t *testing.T) {
	c := &pluginv1.ImageConfig{Labels: map[string]string{
		"io.buildpacks.build.metadata": strings.Repeat("x", MaxText), "kept": strings.Repeat("x", MaxLabel),
	}}
	FitImageConfig(c)
	if len(c.Labels) != 1 || c.Labels["kept"] == "" {
		t.Errorf("it has %d labels", len(c.Labels))
	}
}
