package replace

import (
	"maps"
	"slices"
	"strings"
	"testing"

	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// pairs are labels written as "name=value name=value".
func pairs(text string) map[string]string {
	all := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

func imageWith(labels map[string]string) *Image {
	image := &Image{ID: "sha256:1", Config: &dockerspec.DockerOCIImageConfig{}}
	image.Config.Labels = labels
	return image
}

func TestCounting(t *testing.T) {
	const (
		stack  = composeProject + "=home " + composeService + "=web "
		hash   = composeHash + "=abc "
		number = composeNumber + "=1 "
		files  = "com.docker.compose.project.config_files=/c.yaml com.docker.compose.project.working_dir=/c " +
			"com.docker.compose.project.environment_file=/c.env "
	)
	for name, c := range map[string]struct{ labels, image, want string }{
		"given":                         {"a=1 b=2", "", "a=1 b=2"},
		"of the image":                  {"a=1 b=2", "a=1 c=3", "b=2"},
		"given with another value":      {"a=2", "a=1", "a=2"},
		"given empty":                   {"a=", "a=1", "a="},
		"compose, pulled":               {stack + hash + files, "a=1", stack + hash + files},
		"compose, built":                {stack + hash + files, stack, stack + hash + files},
		"compose 1, built":              {stack + number, stack, stack + number},
		"built by compose, run plain":   {stack + "mine=1", stack, "mine=1"},
		"an image that says all":        {stack + hash + number + files, stack + hash + number + files, ""},
		"an image with files, composed": {stack + hash + files, files + composeProject + "=home", stack + hash},
		"an image with a hash, composed": {
			stack + hash + number, composeHash + "=other " + number, stack + hash,
		},
		"labelled by hand":                 {stack, "", stack},
		"project by hand, service guessed": {stack, composeService + "=web", composeProject + "=home"},
		"an empty hash":                    {stack + composeHash + "=", stack + composeHash + "=other", composeHash + "="},
	} {
		if got := Counting(pairs(c.labels), imageWith(pairs(c.image)).brings); !maps.Equal(got, pairs(c.want)) {
			t.Errorf("%s: %v count", name, got)
		}
	}
	if got := Counting(pairs("a=1 "+stack+hash), (*Image)(nil).brings); len(got) > 0 {
		t.Errorf("without its image %v count", got)
	}
	if got := Counting(pairs("a=1"), (&Image{}).brings); len(got) != 1 {
		t.Errorf("of an image without configuration %v count", got)
	}
}

// FuzzCounting: nothing counts that the image says, apart from what compose writes into
// images too, and that only in a container that compose made.
func FuzzCounting(f *testing.F) {
	f.Add("a=1 b=2", "a=1")
	f.Add(composeProject+"=p "+composeHash+"=1", composeProject+"=p")
	f.Add(composeNumber+"=1", composeNumber+"=1")
	f.Fuzz(func(t *testing.T, given, image string) {
		of, own := pairs(image), pairs(given)
		merged := maps.Clone(of)
		maps.Copy(merged, own)
		counting := Counting(merged, imageWith(of).brings)
		composed := false
		for _, name := range []string{composeHash, composeNumber} {
			composed = composed || own[name] != "" && own[name] != of[name]
		}
		for name, value := range counting {
			said, brought := of[name]
			written := slices.Contains([]string{composeProject, composeService, composeVersion}, name)
			if brought && said == value && !(composed && written) {
				t.Errorf("%s=%s of the image counts, given %q, image %q", name, value, given, image)
			}
		}
		for name, value := range own {
			if said, brought := of[name]; (!brought || said != value) && counting[name] != value {
				t.Errorf("%s=%s was given and does not count, image %q", name, value, image)
			}
		}
	})
}

// TestMakeDoesNotPromoteLabels: labels of the old image do not become the user's, whatever
// the next image says, and what compose gave the container stays although its image has it too.
func TestMakeDoesNotPromoteLabels(t *testing.T) {
	c := parse(t, `{"Config":{"Labels":{"version":"1","dogwatch.update":"auto","mine":"1","both":"own",
		"com.docker.compose.project":"home","com.docker.compose.service":"web","com.docker.compose.config-hash":"abc",
		"com.docker.compose.project.config_files":"/evil.yaml"}}}`)
	for name, value := range map[string]string{
		"dogwatch.update": "auto", "both": "image", composeProject: "home", composeService: "web",
		"com.docker.compose.project.config_files": "/evil.yaml",
	} {
		c.Image.Config.Labels[name] = value
	}
	c = c.WithImage(c.Image)
	want := map[string]string{
		"mine": "1", "both": "own", composeProject: "home", composeService: "web", composeHash: "abc",
	}
	if got := Make(c, Engine{}, "app:2", "sha256:2").Config.Labels; !maps.Equal(got, want) {
		t.Errorf("the new container is given %v, want %v", got, want)
	}
	p := Plan(Facts{Target: c.WithImage(nil)}, request())
	if !slices.Equal(codes(p.Blocks), []string{BlockDefaults}) || !p.Blocks[0].Acknowledge {
		t.Errorf("without its image: %v", p.Blocks)
	}
	accepted := request()
	accepted.Rules.Acknowledged = []string{BlockDefaults}
	if p := Plan(Facts{Target: c.WithImage(nil)}, accepted); len(p.Blocks) != 0 {
		t.Errorf("acknowledged: %v", p.Blocks)
	}
}

// TestPlanWarnsOfLabelsThatLoseTheirStatus covers those that the user may have set.
func TestPlanWarnsOfLabelsThatLoseTheirStatus(t *testing.T) {
	const window = "dogwatch.window=1"
	for name, c := range map[string]struct{ given, old, next, same, gone string }{
		"none":                   {window + " mine=1", "", "mine=1", "", ""},
		"the new image has it":   {window + " wud.watch=1", "", window + " wud.watch=0", "dogwatch.window", ""},
		"both images have it":    {window, window, window, "", ""},
		"the old image had it":   {window, window, "", "", "dogwatch.window"},
		"of no matter":           {"version=1", "version=1", "", "", ""},
		"the old one's differed": {window, "dogwatch.window=2", "", "", ""},
	} {
		target := parse(t, `{}`)
		target.Config.Labels = pairs(c.given)
		target.Image.Config.Labels = pairs(c.old)
		req := request()
		req.Image.Config = &sdk.ImageConfig{Labels: pairs(c.next)}
		text := map[bool]string{}
		for _, w := range Plan(Facts{Target: target.WithImage(target.Image)}, req).Warnings {
			if w.Code == WarnLabels {
				text[strings.Contains(w.Text, "the new image has")] = w.Text
			}
		}
		if !says(text[true], c.same) || !says(text[false], c.gone) {
			t.Errorf("%s: %v", name, text)
		}
	}
}

func says(text, label string) bool {
	return label == "" && text == "" || label != "" && strings.Contains(text, " "+label+":")
}

// TestPlanOfAnIntruder: what an image says makes its container no sibling or dependent of others.
func TestPlanOfAnIntruder(t *testing.T) {
	said := map[string]string{
		composeProject: "p", composeService: "app", composeDependsOn: "db:service_started:true", composeHash: "1",
	}
	db := running("a", "db", "front", "front")
	db.Labels = map[string]string{composeProject: "p", composeService: "db", composeHash: "2"}
	other := running("b", "other", "front", "front")
	other.Config.Labels = said
	for _, c := range []struct {
		image map[string]string
		want  int
	}{{nil, 1}, {said, 0}} {
		own := other.WithImage(imageWith(c.image))
		p := Plan(Facts{Target: db, Others: []Container{own}}, watcher.UpdateRequest{})
		if len(p.Dependents) != c.want {
			t.Errorf("image with %v: dependents %v", c.image, p.Dependents)
		}
		if Managed(own) != (c.want == 1) {
			t.Errorf("image with %v: managed %v", c.image, Managed(own))
		}
	}
}

// TestSwarmAndKubernetesBlock: only their own containers are left to them, which their images do not say.
func TestSwarmAndKubernetesBlock(t *testing.T) {
	for name, code := range map[string]string{
		"com.docker.swarm.service.id": BlockSwarm, "io.kubernetes.pod.name": BlockKube,
	} {
		c := parse(t, `{}`)
		c.Config.Labels = map[string]string{name: "x"}
		for _, image := range []*Image{nil, c.Image} {
			if p := Plan(Facts{Target: c.WithImage(image)}, request()); !slices.Contains(codes(p.Blocks), code) {
				t.Errorf("%s: %v", name, p.Blocks)
			}
		}
		c.Image.Config.Labels = map[string]string{name: "x"}
		if p := Plan(Facts{Target: c.WithImage(c.Image)}, request()); slices.Contains(codes(p.Blocks), code) {
			t.Errorf("%s of the image: %v", name, p.Blocks)
		}
	}
}
