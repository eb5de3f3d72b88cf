package smtp

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

// checkText compares subject and text with the request.
func checkText(t *testing.T, m *mail.Message, req trigger.Request) {
	t.Helper()
	got, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if want := subject(req.Title); got != want || err != nil {
		t.Errorf("subject %q, %v, want %q", got, err, want)
	}
	if len(req.Actions) > 0 {
		checkParts(t, m, req)
		return
	}
	if got := m.Header.Get("Content-Type"); got != "text/plain; charset=UTF-8" {
		t.Errorf("content type %q", got)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	unix := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
	if unix(string(text)) != unix(req.Body) {
		t.Errorf("text %.200q, want %.200q", text, req.Body)
	}
}

// checkParts wants the text with links, and then the same with buttons.
func checkParts(t *testing.T, m *mail.Message, req trigger.Request) {
	t.Helper()
	mediaType, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/alternative" {
		t.Fatalf("content type %q, %v", mediaType, err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []struct{ contentType, link string }{{"text/plain; charset=UTF-8", ": %s"},
		{"text/html; charset=UTF-8", `<a href="%s"`}} {
		part, err := parts.NextPart() // which decodes quoted-printable
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil || part.Header.Get("Content-Type") != want.contentType || !strings.Contains(string(text), req.Body) {
			t.Errorf("%s, %v: %s", part.Header.Get("Content-Type"), err, text)
		}
		for _, a := range req.Actions {
			if is := strings.Contains(string(text), fmt.Sprintf(want.link, a.URL)); is != (a.Kind != trigger.ActionDecide) {
				t.Errorf("%s: link to %s: %t", want.contentType, a.Kind, is)
			}
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("there is another part: %v", err)
	}
}

// What stands in a message or a name is text in the part with buttons, too.
func TestPageEscapesTexts(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	req := triggertest.Request("nginx", "redis")
	req.Body, req.Containers[0].DisplayName = evil, evil
	req.Actions = []trigger.Action{{
		ContainerID: req.Containers[0].ID, Kind: trigger.ActionSkip, Label: evil, URL: "https://h/" + evil,
	}}
	if got := page(req); strings.Contains(got, "<script") || !strings.Contains(got, "&lt;script&gt;") {
		t.Error(got)
	}
}
