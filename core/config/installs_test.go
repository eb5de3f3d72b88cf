package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestDeclaredPlugins(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	tests := map[string]struct {
		yaml string
		env  string
		want []Install
		says string
	}{
		"list of mappings": {yaml: "plugins:\n  install:\n    - { name: Lamp, ref: ghcr.io/me/lamp:1.0, digest: '" +
			digest + "', key: RWQ/a+b=c }\n    - name: two\n      ref: https://example.org/two\n      digest: " +
			strings.ToUpper(digest[:1]) + digest[1:],
			want: []Install{{Name: "Lamp", Ref: "ghcr.io/me/lamp:1.0", Digest: digest, Key: "RWQ/a+b=c"}, {
				Name: "two", Ref: "https://example.org/two", Digest: digest,
			}}},
		"environment": {
			env:  "name=lamp ref=me/lamp:1,name=two ref=me/two:2",
			want: []Install{{Name: "lamp", Ref: "me/lamp:1"}, {Name: "two", Ref: "me/two:2"}},
		},
		"grants": {
			yaml: "plugins: {install: [{name: lamp, ref: me/lamp:1, grants: [credentials, Run]}, {name: two, ref: me/two:1, grants: engine}]}", want: []Install{{Name: "lamp", Ref: "me/lamp:1", Grants: []string{"credentials", "run"}}, {Name: "two", Ref: "me/two:1", Grants: []string{"engine"}}},
		},
		"grants of env": {
			env: "name=lamp ref=me/lamp:1 grants=credentials+run,name=two ref=me/two:2",
			want: []Install{{Name: "lamp", Ref: "me/lamp:1", Grants: []string{"credentials", "run"}}, {
				Name: "two", Ref: "me/two:2",
			}},
		},
		"unknown grant": {
			yaml: "plugins: {install: [{name: lamp, ref: me/lamp, grants: [root]}]}",
			says: `the grants of lamp name "root", which is no capability`,
		},
		"nested grants": {
			yaml: "plugins: {install: [{name: lamp, ref: me/lamp, grants: [{a: b}]}]}",
			want: []Install{{Name: "lamp", Ref: "me/lamp"}}, says: "is one text without spaces",
		},
		"misspelt field": {yaml: "plugins: {install: [{name: lamp, reff: me/lamp}]}", says: "did you mean ref?"},
		"no ref":         {yaml: "plugins: {install: [{name: lamp}]}", says: "a plugin lacks its name or its ref"},
		"leaves": {
			yaml: "plugins: {install: [{name: ../lamp, ref: me/lamp}]}", says: `the name "../lamp" is none of a file`,
		},
		"digest": {
			yaml: "plugins: {install: [{name: lamp, ref: me/lamp, digest: abc}]}", says: "the digest of lamp is no SHA-256",
		},
		"no digest": {
			yaml: "plugins: {install: [{name: lamp, ref: 'https://example.org/lamp'}]}",
			says: "the address of lamp has no digest",
		},
		"password": {
			yaml: "plugins: {install: [{name: lamp, ref: 'https://a:s3cret@example.org/lamp'}]}",
			says: "has a user or a password",
		},
		"twice": {
			yaml: "plugins: {install: [{name: lamp, ref: a/lamp}, {name: lamp, ref: b/lamp}]}",
			says: "names lamp twice", want: []Install{{Name: "lamp", Ref: "a/lamp"}, {Name: "lamp", Ref: "b/lamp"}},
		},
		"nested": {yaml: "plugins: {install: [{name: {a: b}, ref: me/lamp}]}", says: "is one text without spaces"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, problems := loadInstalls(t, test.yaml, test.env)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if (test.says == "") != (problems == "") || !strings.Contains(problems, test.says) ||
				strings.Contains(problems, "s3cret") {
				t.Errorf("problems %q, want %q", problems, test.says)
			}
		})
	}
}

// loadInstalls returns the plugins that a file, or a variable, asks for, and what is reported.
func loadInstalls(t *testing.T, file, variable string) ([]Install, string) {
	t.Helper()
	in := Input{
		File: "dogwatch.yaml", Environ: []string{"HOME=/home/ana"}, Open: memory(map[string]string{"dogwatch.yaml": file}),
	}
	if variable != "" {
		in.Environ = append(in.Environ, "DOGWATCH_PLUGINS_INSTALL="+variable)
	}
	c, err := Load(in)
	var said []string
	if err != nil {
		said = append(said, err.Error())
	}
	for _, p := range c.Problems {
		if p.Level == Error {
			said = append(said, p.String())
		}
	}
	return c.Plugins.Declared(), strings.Join(said, "; ")
}

// TestGrantsOfTheConfiguration: both places where they are written count.
func TestGrantsOfTheConfiguration(t *testing.T) {
	p := Plugins{
		Granted: []string{"lamp=Run", "other=engine"}, Installs: []string{"name=lamp ref=me/lamp:1 grants=credentials"},
	}
	want := map[string][]string{"lamp": {"run", "credentials"}, "other": {"engine"}}
	if got := p.Grants(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
