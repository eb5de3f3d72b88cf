package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TestDefaultMessages are those of WUD 8.3.1, letter by letter.
func TestDefaultMessages(t *testing.T) {
	linked := withUpdate("my.app", "1.25.0", "1.26.0", "minor")
	linked.Result.Link = "https://rel/1.26"
	beta := moved("beta")
	simulated := sdk.Container{
		Name:       "sim",
		UpdateKind: sdk.UpdateKind{Kind: "tag", LocalValue: "1", RemoteValue: "2", Result: &sdk.Result{Link: "https://l"}},
	}
	for _, c := range []struct {
		about       string
		list        []sdk.Container
		batch       bool
		title, body string
	}{
		{"tag with link", []sdk.Container{linked}, false, "New tag found for container my.app",
			"Container my.app running with tag 1.25.0 can be updated to tag 1.26.0\nhttps://rel/1.26"},
		{"digest without link", []sdk.Container{beta}, false, "New digest found for container beta",
			"Container beta running with digest sha256:old can be updated to digest sha256:new"},
		{"batch", []sdk.Container{linked, beta}, true, "2 updates available",
			"- Container my.app running with tag 1.25.0 can be updated to tag 1.26.0\nhttps://rel/1.26\n\n- Container beta running with digest sha256:old can be updated to digest sha256:new\n"},
		{"batch of one", []sdk.Container{beta}, true, "1 updates available",
			"- Container beta running with digest sha256:old can be updated to digest sha256:new\n"},
		{"several in a manual run", []sdk.Container{beta, beta}, false, "2 updates available",
			"- Container beta running with digest sha256:old can be updated to digest sha256:new\n\n- Container beta running with digest sha256:old can be updated to digest sha256:new\n"},
		{"made up, with nothing but a name", []sdk.Container{{Name: "x"}}, false, "New unknown found for container x",
			"Container x running with unknown undefined can be updated to unknown undefined"},
		{"simulated, its link with its kind", []sdk.Container{simulated}, false, "New tag found for container sim",
			"Container sim running with tag 1 can be updated to tag 2\nhttps://l"},
	} {
		title, body, err := messages(t, "", "", "").render(c.list, c.batch)
		if err != nil || title != c.title || body != c.body {
			t.Errorf("%s:\n %q\n %q\n %v", c.about, title, body, err)
		}
	}
}

// TestMessageVariablesOfOldWUD are the variables of older versions of WUD.
func TestMessageVariablesOfOldWUD(t *testing.T) {
	c := withUpdate("web", "1.0.0", "1.1.0", "minor")
	c.Result.Link = "https://l"
	title, body, err := messages(t, "${id} ${name} ${watcher} ${kind} ${semver}",
		"${local} ${remote} ${link} ${local.substring(0, 3)}", "").render([]sdk.Container{c}, false)
	if err != nil || title != "id-web web local tag minor" || body != "1.0.0 1.1.0 https://l 1.0" {
		t.Errorf("%q %q %v", title, body, err)
	}
	title, body, err = messages(t, "[${kind}${semver}${link}]", "[${local}${remote}]",
		"").render([]sdk.Container{{Name: "x"}}, false)
	if err != nil || title != "[unknown]" || body != "[]" {
		t.Errorf("without an update: %q %q %v", title, body, err)
	}
	title, _, err = messages(t, "", "",
		"${count} of ${containers.map(c => c.name).join()} ${containers[1].updateKind.kind}").render([]sdk.Container{c, {
		Name: "y",
	}}, true)
	if err != nil || title != "2 of web,y unknown" {
		t.Errorf("batch title %q %v", title, err)
	}
}

// TestMessageNamesOtherSteps: a newer major version is named beside the minor one.
func TestMessageNamesOtherSteps(t *testing.T) {
	c := withUpdate("web", "8.0.0", "8.2.1", "minor")
	c.Result.Levels = &sdk.Levels{Minor: &sdk.Release{Tag: "8.2.1"}, Major: &sdk.Release{Tag: "9.0"}}
	_, body, err := messages(t, "", "to ${remote}${also}", "").render([]sdk.Container{c}, false)
	if err != nil || body != "to 8.2.1, or 9.0" {
		t.Errorf("%q %v", body, err)
	}
}

// TestRenderLeavesGapWhenTemplateFails: the text has a gap, and the rest of it is sent.
func TestRenderLeavesGapWhenTemplateFails(t *testing.T) {
	m := messages(t, "update of ${container.name}: ${nosuch}", "${container.a.b}!", "${containers[7].name} in ${count}")
	title, body, err := m.render([]sdk.Container{minor("web")}, false)
	if title != "update of web: " || body != "!" {
		t.Errorf("%q %q", title, body)
	}
	for _, part := range []string{"title: ${nosuch}: ", "body: ${container.a.b}: "} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
	title, body, err = m.render([]sdk.Container{minor("web"), minor("db")}, true)
	if title != " in 2" || body != "- !\n\n- !\n" || err == nil || !strings.Contains(err.Error(), "body of db: ") {
		t.Errorf("batch %q %q %v", title, body, err)
	}
}

func TestParseMessages(t *testing.T) {
	_, err := ParseMessages(Templates{SimpleTitle: "${", SimpleBody: "fine", BatchTitle: "${1 +}"})
	var invalid *sdk.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) != 2 || invalid.Fields[0].Field != "simpletitle" ||
		invalid.Fields[1].Field != "batchtitle" {
		t.Errorf("error %v", err)
	}
}

// TestLintNamesMisspeltVariables names what templates misspell, by option, and leaves right ones alone.
func TestLintNamesMisspeltVariables(t *testing.T) {
	odd := messages(t, "${container.nmae} has ${container.updatekind.kind}",
		"${local} ${lokal} ${container.labels['x'].y}", "${watcher} ${containers.map(c => c.dispalyName).join()}").Lint()
	want := []sdk.FieldError{
		{Field: "simpletitle", Detail: "unknown field container.nmae: did you mean container.name?"},
		{Field: "simpletitle", Detail: "unknown field container.updatekind: did you mean container.updateKind?"},
		{
			Field:  "simplebody",
			Detail: `unknown name "lokal": did you mean local? (known: also, approveUrl, container, decideUrl, id, kind, link, local, name, notes, remote, semver, skipUrl, snoozeUrl, versions, watcher)`,
		},
		{Field: "batchtitle", Detail: `unknown name "watcher" (known: containers, count)`},
		{Field: "batchtitle", Detail: "unknown field c.dispalyName: did you mean c.displayName?"},
	}
	if !slices.Equal(odd, want) {
		t.Errorf("odd %q", odd)
	}
	if odd := messages(t, "", "", "").Lint(); len(odd) > 0 {
		t.Errorf("the default templates: %q", odd)
	}
}

// TestLintKnowsEveryField that a container has in JSON, as templates see it.
func TestLintKnowsEveryField(t *testing.T) {
	var everything sdk.Container
	fill(reflect.ValueOf(&everything).Elem())
	encoded, err := json.Marshal(everything)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	checked := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if object, ok := v.(map[string]any); ok {
			for name, field := range object {
				walk(path+"."+name, field)
			}
			return
		}
		checked++
		if odd := messages(t, "${"+path+"}", "", "").Lint(); len(odd) > 0 {
			t.Errorf("%s: %q", path, odd)
		}
	}
	walk("container", fields)
	if checked < 30 {
		t.Errorf("only %d fields", checked)
	}
}

// fill sets every field to something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"x": "x"}))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[sdk.Time]() {
			v.Set(reflect.ValueOf(sdk.TimeOf(time.Unix(1, 0))))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// TestRenderTemplatesFromTheWild renders templates that users published, through the messages of a trigger.
// TestBatchNestsLists: only a container begins an item of the list, so that triggers can tell where one ends.
func TestBatchNestsLists(t *testing.T) {
	m, err := ParseMessages(Templates{SimpleBody: "${name}\n\n- fixes\n- adds"})
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := m.render([]sdk.Container{{Name: "web"}, {Name: "db"}}, true)
	if want := "- web\n\n  - fixes\n  - adds\n\n- db\n\n  - fixes\n  - adds\n"; err != nil || body != want {
		t.Errorf("%q %v, want %q", body, err, want)
	}
}

func TestRenderTemplatesFromTheWild(t *testing.T) {
	encoded, err := os.ReadFile("../../config/template/testdata/templates.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Container sdk.Container
		Templates []struct{ Kind, Template, Rendered, WUD8Error string }
	}
	if err := json.Unmarshal(encoded, &corpus); err != nil {
		t.Fatal(err)
	}
	rendered := 0
	for _, c := range corpus.Templates {
		var got string
		var err error
		switch c.Kind {
		case "title", "url":
			got, _, err = messages(t, c.Template, "", "").render([]sdk.Container{corpus.Container}, false)
		case "body":
			_, got, err = messages(t, "", c.Template, "").render([]sdk.Container{corpus.Container}, false)
		case "batchTitle":
			got, _, err = messages(t, "", "", c.Template).render([]sdk.Container{corpus.Container, corpus.Container}, true)
		default:
			continue
		}
		if odd := lintOf(t, c.Kind, c.Template); (len(odd) > 0) != (c.WUD8Error != "") {
			t.Errorf("%s: found odd %q, WUD says %q", c.Template, odd, c.WUD8Error)
		}
		if c.WUD8Error != "" {
			continue
		}
		rendered++
		if err != nil || c.Rendered != "" && got != c.Rendered {
			t.Errorf("%s\n got  %q, %v\n want %q", c.Template, got, err, c.Rendered)
		}
	}
	if rendered < 30 {
		t.Errorf("only %d templates rendered", rendered)
	}
}

// lintOf is what is odd about one template of a kind.
func lintOf(t *testing.T, kind, text string) []sdk.FieldError {
	t.Helper()
	switch kind {
	case "body":
		return messages(t, "", text, "").Lint()
	case "batchTitle":
		return messages(t, "", "", text).Lint()
	}
	return messages(t, text, "", "").Lint()
}

// TestMessagesAreReadable: what a template reads from labels, which are data, is sent as readers see it.
func TestMessagesAreReadable(t *testing.T) {
	c := withUpdate("web", "1.0.0", "1.1.0", "minor")
	c.Labels = map[string]string{"about": "a\u202eb\u200bc\x1b[2J\nd 👩\u200d💻"}
	for _, batch := range []bool{false, true} {
		title, body, err := messages(t, "${container.labels.about}", "${container.labels.about}",
			"${containers[0].labels.about}").render([]sdk.Container{c}, batch)
		if err != nil || title != "abc[2J\nd 👩\u200d💻" || !strings.Contains(body, "abc[2J\nd 👩\u200d💻") {
			t.Errorf("%+q, %+q, %v", title, body, err)
		}
	}
}

// TestTitleIsInTheHistory: the event of a delivery says what was sent, without secrets and bounded.
func TestTitleIsInTheHistory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mail, inbox := simple(t, "smtp.main", func(tr *Trigger) {
			tr.Messages = messages(t, "${name}: S3CRET "+strings.Repeat("x", 300), "", "")
		})
		b := open(t, mail)
		b.stop()
		b.redact = func(text string) string { return strings.ReplaceAll(text, "S3CRET", "***") }
		b.start(nil)
		defer b.stop()
		inbox.respond(func(_ context.Context, n int, _ trigger.Request) error {
			if n == 1 {
				return errDown
			}
			return nil
		})
		b.checked([]sdk.Container{minor("web")})
		settle(time.Minute)
		events, err := b.store.Events(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var titles []string
		for _, e := range events {
			if e.Delivery != nil {
				titles = append(titles, e.Delivery.Title)
			}
		}
		if len(titles) != 1 || !strings.HasPrefix(titles[0], "web: *** xxx") || len([]rune(titles[0])) != maxTitle {
			t.Errorf("the titles of events are %q", titles)
		}
	})
}
