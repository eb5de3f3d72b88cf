package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/dogwatch/dogwatch/core/config/template"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Messages are the templates of a trigger.
type Messages struct {
	Title, Body, BatchTitle   *template.Template
	SummaryTitle, SummaryBody *template.Template

	// notes are the excerpts of release notes, by the id of their container.
	notes map[string]string
}

// Templates are the texts of templates, by the option that has them.
type Templates struct{ SimpleTitle, SimpleBody, BatchTitle, SummaryTitle, SummaryBody string }

// ParseMessages parses templates. The error is an *sdk.InvalidError
// that names the option of each one that is wrong.
func ParseMessages(t Templates) (Messages, error) {
	var m Messages
	var wrong []sdk.FieldError
	for _, f := range []struct {
		option, text string
		into         **template.Template
	}{
		{"simpletitle", t.SimpleTitle, &m.Title}, {"simplebody", t.SimpleBody, &m.Body},
		{"batchtitle", t.BatchTitle, &m.BatchTitle},
		{"summarytitle", t.SummaryTitle, &m.SummaryTitle}, {"summarybody", t.SummaryBody, &m.SummaryBody},
	} {
		parsed, err := template.Parse(f.text)
		if err != nil {
			wrong = append(wrong, sdk.FieldError{Field: f.option, Detail: err.Error()})
			continue
		}
		*f.into = parsed
	}
	if len(wrong) > 0 {
		return m, &sdk.InvalidError{Fields: wrong}
	}
	return m, nil
}

// Lint returns what the templates read and no container has: names and fields that are
// misspelt. They are sent all the same, since a message with a gap is better than none.
func (m Messages) Lint() []sdk.FieldError {
	container := template.ShapeOf(reflect.TypeFor[sdk.Container]())
	one := map[string]*template.Shape{"container": container}
	for name := range (Messages{}).variables(sdk.Container{}, nil, nil) {
		if name != "container" {
			one[name] = template.Text
		}
	}
	several := map[string]*template.Shape{"containers": template.ListOf(container), "count": template.Number}
	summed := map[string]*template.Shape{
		"headline": template.Text, "text": template.Text, "since": template.Text, "until": template.Text,
	}
	for _, count := range []string{"updated", "failed", "approval", "offered", "automatic", "held"} {
		summed[count] = template.Number
	}
	var odd []sdk.FieldError
	for _, f := range []struct {
		option   string
		template *template.Template
		vars     map[string]*template.Shape
	}{{"simpletitle", m.Title, one}, {"simplebody", m.Body, one}, {"batchtitle", m.BatchTitle, several},
		{"summarytitle", m.SummaryTitle, summed}, {"summarybody", m.SummaryBody, summed}} {
		for _, problem := range f.template.Lint(f.vars) {
			odd = append(odd, sdk.FieldError{Field: f.option, Detail: problem})
		}
	}
	return odd
}

// render returns title and body. Text is returned next to an error: a
// placeholder that fails is left empty and the rest is rendered.
func (m Messages) render(
	containers []sdk.Container, batch bool, actions ...trigger.Action,
) (title, body string, err error) {
	defer func() { title, body = visible.Text(title), visible.Text(body) }() // templates read labels as they are
	if !batch && len(containers) == 1 {
		return m.one(containers[0], actions)
	}
	list := make([]any, len(containers))
	for i, c := range containers {
		list[i] = plain(c)
	}
	title, err = m.BatchTitle.Render(map[string]any{"containers": list, "count": len(containers)})
	errs := []error{wrapped("batch title", err)}
	var items []string
	for i, c := range containers {
		text, err := m.Body.Render(m.variables(c, list[i], actions))
		errs = append(errs, wrapped("body of "+c.Name, err))
		// What begins with "- " at the beginning of a line is one container: triggers cut long messages between them.
		items = append(items, "- "+strings.ReplaceAll(text, "\n- ", "\n  - ")+"\n")
	}
	return title, strings.Join(items, "\n"), errors.Join(errs...)
}

func (m Messages) one(c sdk.Container, actions []trigger.Action) (title, body string, err error) {
	vars := m.variables(c, plain(c), actions)
	title, titleErr := m.Title.Render(vars)
	body, bodyErr := m.Body.Render(vars)
	return title, body, errors.Join(wrapped("title", titleErr), wrapped("body", bodyErr))
}

// summary returns title and body of a summary. Text is returned next to an error, as of render.
func (m Messages) summary(s summary, e trigger.Event) (title, body string, err error) {
	n := e.Summary
	vars := map[string]any{
		"headline": s.headline(), "text": s.text(), "since": e.Since.String(), "until": e.At.String(),
		"updated": n.Updated, "failed": n.Failed, "approval": n.Approval, "offered": n.Offered,
		"automatic": n.Automatic, "held": n.Held,
	}
	title, titleErr := m.SummaryTitle.Render(vars)
	body, bodyErr := m.SummaryBody.Render(vars)
	return visible.Text(title), visible.Text(body),
		errors.Join(wrapped("summary title", titleErr), wrapped("summary body", bodyErr))
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// plain converts a container for templates. A container without update has the
// kind "unknown" there; a simulated one may carry its link with its kind.
func plain(c sdk.Container) any {
	c.UpdateKind.Kind = cmp.Or(c.UpdateKind.Kind, sdk.KindUnknown)
	c.Result = result(c)
	value, err := template.Value(c)
	if err != nil {
		return c // Render tries again and reports it
	}
	return value
}

func result(c sdk.Container) *sdk.Result {
	if c.Result == nil {
		return c.UpdateKind.Result
	}
	return c.Result
}

// variables are what templates of one container can read: the container, the short
// names of older versions of WUD, an excerpt of the release notes, and the links with which
// to decide; the last two are empty where there are none.
func (m Messages) variables(c sdk.Container, container any, actions []trigger.Action) map[string]any {
	link := ""
	if r := result(c); r != nil {
		link = r.Link
	}
	vars := map[string]any{
		"approveUrl": "", "skipUrl": "", "snoozeUrl": "", "decideUrl": "",
		"container": container, "id": c.ID, "name": c.Name, "watcher": c.Watcher, "link": link,
		"kind": cmp.Or(c.UpdateKind.Kind, sdk.KindUnknown), "semver": c.UpdateKind.SemverDiff,
		"local": c.UpdateKind.LocalValue, "remote": c.UpdateKind.RemoteValue, "also": tally.Also(&c),
		"versions": "", "notes": m.notes[c.ID],
	}
	if running, offered := tally.Versions(&c); running != "" {
		vars["versions"] = running + " → " + offered
	}
	for _, a := range actions {
		if name := a.Kind + "Url"; a.ContainerID == c.ID && vars[name] == "" {
			vars[name] = a.URL
		}
	}
	return vars
}
