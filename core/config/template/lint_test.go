package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// lintVars are variables like those of messages.
func lintVars() map[string]*Shape {
	type tag struct {
		Value  string `json:"value"`
		Semver bool   `json:"semver"`
		hidden string
	}
	type thing struct {
		Name   string             `json:"name"`
		Image  *tag               `json:"image,omitempty"`
		Kind   struct{ A, B int } `json:"-"`
		Result *struct {
			Link    string `json:"link"`
			Release string `json:"releaseDate"`
		} `json:"result,omitempty"`
		Labels map[string]string `json:"labels"`
	}
	_ = tag{hidden: ""}.hidden
	container := ShapeOf(reflect.TypeFor[thing]())
	return map[string]*Shape{"container": container, "containers": ListOf(container), "name": Text, "count": Number}
}

// TestLint finds what is misspelt, and nothing else.
func TestLint(t *testing.T) {
	for template, want := range map[string][]string{
		`plain`: nil,
		`${container.name} ${name} ${count} ${container.image.value.substring(0, 3)} ${name.length} ${name[0]}`: nil,
		`${container.nmae} has ${container.nmae}`:                     {"unknown field container.nmae: did you mean container.name?"},
		`${container.image.valeu}`:                                    {"unknown field container.image.valeu: did you mean container.image.value?"},
		`${container.imgae.value}`:                                    {"unknown field container.imgae: did you mean container.image?"},
		`${container.link}`:                                           {"unknown field container.link: did you mean container.result.link?"},
		`${container.result.release}`:                                 {"did you mean container.result.releaseDate?"},
		`${container["nmae"]}`:                                        {"container.nmae: did you mean"},
		`${container.Kind}`:                                           {"unknown field container.Kind"},
		`${container.image.hidden}`:                                   {"(container.image has semver, value)"},
		`${container.name.first}`:                                     {"unknown field container.name.first: container.name has no fields"},
		`${contaner.name}`:                                            {`unknown name "contaner": did you mean container? (known: container, containers, count, name)`},
		`${hostname}`:                                                 {`unknown name "hostname" (known: container`},
		`${hostname || ""}`:                                           {`unknown name "hostname"`},
		`${typeof hostname !== "undefined" ? hostname : "here"}`:      nil,
		"${`a ${container.nmae}`}":                                    {"container.nmae"},
		`${container.name.replace(/a/, x => contaner)}`:               {`"contaner"`},
		`${[container.nmae, {a: container.imge}, ...containers.nam]}`: {"container.nmae", "container.imge", "containers.nam"},
		`${parseInt(container.nmae)} ${-container.imge} ${1 + container.lables}`: {"container.nmae", "container.imge",
			"container.lables"},
		// Everything can be read of labels.
		`${container.labels.foo} ${container.labels["a.b"].c.d} ${container.labels["a" + name]}`: nil,
		// The items of lists.
		`${containers.length} ${containers[0].name} ${containers.map(c => c.name).join(", ")}`: nil,
		`${containers.name}`:             {"unknown field containers.name: containers is a list; write containers[0].name, or map over it"},
		`${containers[0].nmae}`:          {"unknown field containers[0].nmae: did you mean containers[0].name?"},
		`${containers.map(c => c.nmae)}`: {"unknown field c.nmae: did you mean c.name?"},
		`${containers.filter(c => c.name).map((c, i) => i + c.imge.value)}`:     {"c.imge"},
		`${containers.map(({name, imge}) => name)}`:                             {"unknown field {}.imge: did you mean {}.image?"},
		`${containers.reduce((a, c) => a + c.nmae, "")}`:                        {"c.nmae"},
		`${containers.find(c => c.name == "x").nmae}`:                           {".nmae: did you mean"},
		`${containers.slice().sort((a, b) => a.nmae < b.name ? 1 : 0)[0].name}`: {"a.nmae"},
		`${containers.map(c => c.image).map(i => i.vaule)}`:                     {"i.vaule"},
		`${Object.keys(container).map(c => c.anything)}`:                        nil,
		// What a condition asks for may belong to another version, unless it is like something.
		`${container.agent ? container.agent.name + container.agent : ""}`: nil,
		`${container.agent && container.agent.name}`:                       nil,
		`${container.agent || ""} ${container.agent ?? ""}`:                nil,
		`${!container.agent ? "" : container.agent}`:                       nil,
		`${container.agent == null ? "" : container.agent}`:                nil,
		`${container.agent?.name ?? ""}`:                                   nil,
		`${container.agent?.name}`:                                         {"unknown field container.agent (container has"},
		`${container.agent?.includes("x") ? 1 : 2}`:                        nil,
		`${container.reslt && container.reslt.link}`:                       {"container.reslt: did you mean container.result?"},
		`${container.result && container.result.lnik ? 1 : 2}`:             {"container.result.lnik"},
		`${container.name ? container.agent : ""}`:                         {"unknown field container.agent (container has image, labels, name, result)"},
		`${(container.agent ? 1 : 2) + container.agent}`:                   {"container.agent"},
		`${container.result?.link}`:                                        nil,
		`${container.result?.lnik}`:                                        {"container.result.lnik"},
		`${container.name === "x" && container.imge.value}`:                {"container.imge"},
		// What is no text is not printed.
		`${container.image}`:  {"container.image has several values: write one of container.image.value"},
		`at ${container}`:     {"container has several values: write one of container.name"},
		`${containers}`:       {"containers is a list: write containers.length, or"},
		`${container.labels}`: nil,
		`${container.result ? container.result.link : ""}${container.image && ""}`: nil,
	} {
		parsed, err := Parse(template)
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		got := parsed.Lint(lintVars())
		if len(got) != len(want) || !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%s\n got  %q\n want %q", template, got, want)
		}
	}
}

// FuzzLint finds no template that makes Lint panic.
func FuzzLint(f *testing.F) {
	f.Add("${containers.map(({a, b}) => a?.b[0] ?? (x => x)(b)).c}")
	f.Add("${(a => `${a.b}`)(container)[name].x}")
	f.Fuzz(func(_ *testing.T, source string) {
		if parsed, err := Parse(source); err == nil {
			parsed.Lint(lintVars())
		}
	})
}
