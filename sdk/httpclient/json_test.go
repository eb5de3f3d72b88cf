package httpclient

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestJSON(t *testing.T) {
	type message struct {
		Text string `json:"text"`
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var in message
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil && err != io.EOF {
			t.Error(err)
		}
		out, _ := json.Marshal(message{
			Text: strings.Join([]string{r.Method, r.Header.Get("Content-Type"), r.Header.Get("Accept"),
				r.Header.Get("X-Key"), in.Text}, "|"),
		})
		_, _ = w.Write(out)
	})
	c := newClient(t, Options{})
	var out message
	if err := c.JSON(t.Context(), "PUT", s.URL, http.Header{"X-Key": {"k"}}, message{"<hé>"}, &out); err != nil ||
		out.Text != "PUT|application/json|application/json|k|<hé>" {
		t.Errorf("%q, %v", out.Text, err)
	}
	if err := c.JSON(t.Context(), "GET", s.URL, nil, nil, &out); err != nil || out.Text != "GET||application/json||" {
		t.Errorf("%q, %v", out.Text, err)
	}
	if err := c.JSON(t.Context(), "POST", s.URL, nil, message{}, nil); err != nil {
		t.Error(err)
	}
	if err := c.JSON(t.Context(), "POST", s.URL, nil, func() {}, nil); err == nil {
		t.Error("a function was encoded")
	}
}

func TestJSONRejectsOtherResponses(t *testing.T) {
	var contentType, text string
	status := 200
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
	var out struct{ A int }
	for _, test := range []struct{ contentType, text, want string }{
		{"text/html", "<html>s3cret</html>", `content type "text/html"`},
		{"application/json", `{"a":1`, "expected JSON"},
		{"application/json", `{"a":"s3cret"}`, "expected JSON"},
		{"application/json", "", "0 bytes"},
		{strings.Repeat("x", 1000), "", "xxx"},
	} {
		contentType, text = test.contentType, test.text
		err := newClient(t, Options{}).JSON(t.Context(), "GET", s.URL+"/s3cret", nil, nil, &out)
		if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 300 {
			t.Errorf("%s: error %v, want %q", test.text, err, test.want)
			continue
		}
		checkNoSecret(t, err)
	}
	status = 403
	if err := newClient(t, Options{}).JSON(t.Context(), "GET", s.URL, nil, nil, nil); !errors.Is(err,
		sdk.ErrUnauthorized) {
		t.Errorf("403: %v", err)
	}
}

func TestEncodeJSON(t *testing.T) {
	if got, err := EncodeJSON("<a&b>\n"); string(got) != `"<a&b>\n"` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := EncodeJSON(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}
