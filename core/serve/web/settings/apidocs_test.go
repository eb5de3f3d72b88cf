package settings

import (
	"flag"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var updateDocs = flag.Bool("update", false, "write the documentation of the HTTP interface anew")

func TestAPIPage(t *testing.T) {
	document, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := readAPI(document)
	if err != nil {
		t.Fatal(err)
	}
	mustBeCurrent(t, p)
	operations := 0
	for _, g := range p.Groups {
		if g.Name == "other" || g.Description == "" {
			t.Errorf("the tag %s is not declared", g.Name)
		}
		for _, o := range g.Operations {
			operations++
			if o.ID == "" || o.Summary == "" || len(o.Responses) == 0 {
				t.Errorf("%s %s: %+v", o.Method, o.Path, o)
			}
			for _, f := range o.Parameters {
				if f.Name == "" || f.Where == "" {
					t.Errorf("%s %s: a parameter without name: %+v", o.Method, o.Path, f)
				}
			}
			for _, a := range o.Responses {
				if a.Description == "" {
					t.Errorf("%s %s: status %s says nothing", o.Method, o.Path, a.Status)
				}
			}
		}
	}
	if want := strings.Count(string(document), "operationId:"); operations != want {
		t.Errorf("%d operations of %d", operations, want)
	}
}

// mustBeCurrent reports a page that was not made of the document, and makes it with -update.
func mustBeCurrent(t *testing.T, p apiPage) {
	t.Helper()
	layout, err := template.New("apidocs.html").Funcs(template.FuncMap{"prose": prose}).ParseFiles("testdata/apidocs.html")
	var made strings.Builder
	if err == nil {
		err = layout.Execute(&made, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	if *updateDocs {
		if err := os.WriteFile("apidocs.html", []byte(made.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		apiDocs = made.String()
	} else if made.String() != apiDocs {
		t.Error("apidocs.html is not what openapi.yaml says: run go generate ./core/serve/web/settings")
	}
}

func TestReadAPIRejectsInvalidDocuments(t *testing.T) {
	for _, text := range []string{"\t", "paths: []", "paths: {/x: {get: []}}", "paths: {/x: {parameters: {}, get: {}}}",
		"components: {schemas: 5}"} {
		if _, err := readAPI([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"a `b` c":                  "<p>a <code>b</code> c</p>",
		"one\n\ntwo":               "<p>one</p><p>two</p>",
		"<b>`<i>`":                 "<p>&lt;b&gt;<code>&lt;i&gt;</code></p>",
		"odd ` one</code><script>": "<p>odd <code> one&lt;/code&gt;&lt;script&gt;</code></p>",
	} {
		if got := string(prose(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// apiPage is the HTTP interface for users, made of its OpenAPI document.
type apiPage struct {
	Title string
	// Lead is the first paragraph of the description.
	Lead, Rest string
	Groups     []apiGroup
	Schemas    []apiSchema
}

// apiGroup is the operations of one tag.
type apiGroup struct {
	Name, Description string
	Operations        []apiOperation
}

type apiOperation struct {
	ID, Method, Path, Summary, Description string
	Parameters                             []apiField
	Body                                   *apiType
	BodyText                               string
	Responses                              []apiResponse
}

// apiResponse is what a status means and which types of content it has.
type apiResponse struct {
	Status, Description string
	Contents            []apiContent
}

type apiContent struct {
	Media string
	Type  apiType
}

// apiField is a parameter, or a property of a schema.
type apiField struct {
	Name, Where, Description string
	Type                     apiType
	Required                 bool
}

// apiType is a type in words: "list of Container", of which Ref names a schema.
type apiType struct{ Before, Ref, After string }

// apiSchema is a named object and its properties, those of nested objects with dotted names.
type apiSchema struct {
	Name, Description string
	Fields            []apiField
	Type              apiType
}

// document is the part of OpenAPI 3.0 that our document uses.
type document struct {
	Info       struct{ Title, Description string }
	Tags       []struct{ Name, Description string }
	Paths      ordered[ordered[yaml.Node]]
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    ordered[schema]
	}
}

type documentedOperation struct {
	OperationID          string `yaml:"operationId"`
	Tags                 []string
	Summary, Description string
	Parameters           []parameter
	RequestBody          *response `yaml:"requestBody"`
	Responses            ordered[response]
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      schema
}

// response is an answer, or the body of a request.
type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Content     ordered[struct{ Schema schema }]
}

type schema struct {
	Ref                       string `yaml:"$ref"`
	Type, Format, Description string
	Enum                      []string
	Required                  []string
	Properties                ordered[schema]
	Items                     *schema
	AdditionalProperties      yaml.Node `yaml:"additionalProperties"`
	AllOf                     []schema  `yaml:"allOf"`
	OneOf                     []schema  `yaml:"oneOf"`
}

// ordered is a mapping of YAML in the order of its keys.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Key   string
	Value T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want a mapping", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var v T
		if err := n.Content[i+1].Decode(&v); err != nil {
			return err
		}
		*o = append(*o, entry[T]{n.Content[i].Value, v})
	}
	return nil
}

// methods are the keys of a path that are operations.
var methods = []string{"get", "post", "put", "patch", "delete"}

// readAPI makes the page of an OpenAPI document. The error says what of it is not understood.
func readAPI(text []byte) (apiPage, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return apiPage{}, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	p := apiPage{Title: d.Info.Title}
	p.Lead, p.Rest, _ = strings.Cut(d.Info.Description, "\n\n")
	for _, t := range d.Tags {
		p.Groups = append(p.Groups, apiGroup{Name: t.Name, Description: t.Description})
	}
	for _, path := range d.Paths {
		var shared []parameter
		for _, m := range path.Value {
			if m.Key == "parameters" {
				if err := m.Value.Decode(&shared); err != nil {
					return p, fmt.Errorf("read the parameters of %s: %w", path.Key, err)
				}
			}
		}
		for _, m := range path.Value {
			if !slices.Contains(methods, m.Key) {
				continue
			}
			var o documentedOperation
			if err := m.Value.Decode(&o); err != nil {
				return p, fmt.Errorf("read %s %s: %w", m.Key, path.Key, err)
			}
			o.Parameters = append(slices.Clone(shared), o.Parameters...)
			p.add(o.Tags, d.operation(strings.ToUpper(m.Key), path.Key, o))
		}
	}
	p.Groups = slices.DeleteFunc(p.Groups, func(g apiGroup) bool { return len(g.Operations) == 0 })
	for _, s := range d.Components.Schemas {
		shown := apiSchema{Name: s.Key, Description: s.Value.Description, Fields: fieldsOf("", s.Value)}
		if len(shown.Fields) == 0 {
			shown.Type = typeOf(s.Value)
		}
		p.Schemas = append(p.Schemas, shown)
	}
	return p, nil
}

// add puts an operation into the group of its first tag.
func (p *apiPage) add(tags []string, o apiOperation) {
	name := "other"
	if len(tags) > 0 {
		name = tags[0]
	}
	i := slices.IndexFunc(p.Groups, func(g apiGroup) bool { return g.Name == name })
	if i < 0 {
		i = len(p.Groups)
		p.Groups = append(p.Groups, apiGroup{Name: name})
	}
	p.Groups[i].Operations = append(p.Groups[i].Operations, o)
}

func (d *document) operation(method, path string, o documentedOperation) apiOperation {
	shown := apiOperation{ID: o.OperationID, Method: method, Path: path, Summary: o.Summary, Description: o.Description}
	for _, given := range o.Parameters {
		if given.Ref != "" {
			given = d.Components.Parameters[lastPart(given.Ref)]
		}
		shown.Parameters = append(shown.Parameters, apiField{
			Name: given.Name, Where: given.In, Description: given.Description, Type: typeOf(given.Schema),
			Required: given.Required,
		})
	}
	if o.RequestBody != nil {
		for _, c := range o.RequestBody.Content[:min(1, len(o.RequestBody.Content))] {
			t := typeOf(c.Value.Schema)
			shown.Body, shown.BodyText = &t, o.RequestBody.Description
		}
	}
	for _, response := range o.Responses {
		r := response.Value
		if r.Ref != "" {
			r = d.Components.Responses[lastPart(r.Ref)]
		}
		a := apiResponse{Status: response.Key, Description: r.Description}
		for _, c := range r.Content {
			a.Contents = append(a.Contents, apiContent{c.Key, typeOf(c.Value.Schema)})
		}
		shown.Responses = append(shown.Responses, a)
	}
	return shown
}

func lastPart(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// typeOf says in words what a schema is.
func typeOf(s schema) apiType {
	switch {
	case s.Ref != "":
		return apiType{Ref: lastPart(s.Ref)}
	case s.Items != nil:
		t := typeOf(*s.Items)
		t.Before = "list of " + t.Before
		return t
	case len(s.Enum) > 0:
		return apiType{Before: strings.Join(s.Enum, " | ")}
	case len(s.AllOf) > 0:
		t := typeOf(s.AllOf[0])
		if len(s.AllOf) > 1 {
			t.After += " with more fields"
		}
		return t
	case len(s.OneOf) > 0:
		return apiType{Before: "one of several"}
	case s.Format != "":
		return apiType{Before: s.Type + " (" + s.Format + ")"}
	case s.Type == "":
		return apiType{Before: "anything"}
	}
	return apiType{Before: s.Type}
}

// fieldsOf lists the properties of an object, and of the objects in it.
func fieldsOf(prefix string, s schema) []apiField {
	var fields []apiField
	for _, part := range s.AllOf {
		fields = append(fields, fieldsOf(prefix, part)...)
	}
	for _, property := range s.Properties {
		of := property.Value
		fields = append(fields, apiField{
			Name: prefix + property.Key, Description: of.Description, Type: typeOf(of),
			Required: slices.Contains(s.Required, property.Key),
		})
		below := prefix + property.Key + "."
		if of.Items != nil {
			of, below = *of.Items, prefix+property.Key+"[]."
		}
		if of.Ref == "" {
			fields = append(fields, fieldsOf(below, of)...)
		}
	}
	return fields
}

// prose turns the paragraphs and the `code` of a description into HTML.
func prose(text string) template.HTML {
	var b strings.Builder
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString("<p>")
		for i, part := range strings.Split(paragraph, "`") {
			part = template.HTMLEscapeString(part)
			if i%2 == 1 {
				part = "<code>" + part + "</code>"
			}
			b.WriteString(part)
		}
		b.WriteString("</p>")
	}
	return template.HTML(b.String())
}
