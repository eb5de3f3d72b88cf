package wireplugin

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// served is what a wire plugin holds that serves: a trigger, or a watcher, which posts to a URL with a token.
func (w *wire) served() []*pluginv1.TypeInfo {
	url := &pluginv1.Option{Name: "url", Type: "url", Help: "Where to post", Required: true}
	token := &pluginv1.Option{Name: "token", Type: "string", Help: "Sent along", Secret: true, Example: "abc"}
	t := &pluginv1.TypeInfo{
		Kind: "trigger", Type: "wire", Summary: "Posts", Delivery: "at-least-once", Options: []*pluginv1.Option{url, token},
	}
	wrong := "a lot"
	switch {
	case w.has("no-summary"):
		t.Summary = ""
	case w.has("named-wrong"):
		t.Type = "Wire!"
	case w.has("of-no-kind"):
		t.Kind = "lamp"
	case w.has("delivers-twice"):
		t.Delivery = "twice"
	case w.has("describes-nan"):
		nan := math.NaN()
		url.Min = &nan
	case w.has("no-help"):
		url.Help = ""
	case w.has("option-named-wrong"):
		url.Name = "The URL"
	case w.has("open-token"):
		token.Secret = false
	case w.has("default-wrong"):
		t.Options = append(t.Options, &pluginv1.Option{Name: "level", Type: "int", Help: "How loud", Default: &wrong})
	case w.has("type-unknown"):
		token.Type = "colour"
	case w.has("watcher"):
		t.Kind, t.Delivery = "watcher", ""
		if !w.has("unannounced") {
			t.Capabilities = []string{"watch"}
		}
	case w.has("twice"):
		return []*pluginv1.TypeInfo{t, t}
	}
	return []*pluginv1.TypeInfo{t}
}

// send posts with the options of the instance.
func (w *wire) send(ctx context.Context) error {
	url, _ := w.options["url"].(string)
	token, _ := w.options["token"].(string)
	switch {
	case w.has("leaks"):
		fmt.Fprintln(os.Stderr, "posting with", token)
	case w.has("sleeps"):
		<-ctx.Done()
		return ctx.Err()
	case w.has("deaf"):
		ctx = context.WithoutCancel(ctx)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return unavailable("the service cannot be reached")
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode < 300 || w.has("optimist"):
		return nil
	case w.has("kindless"):
		return status.Error(codes.Unknown, resp.Status)
	case w.has("quotes"):
		return unavailable("it refused " + token)
	case resp.StatusCode == http.StatusUnauthorized:
		return status.Error(codes.Unauthenticated, resp.Status)
	case resp.StatusCode == http.StatusNotFound:
		return status.Error(codes.NotFound, resp.Status)
	}
	return unavailable(resp.Status)
}

func unavailable(text string) error {
	s, err := status.New(codes.Unavailable, text).WithDetails(&errdetails.ErrorInfo{
		Domain: "dogwatch", Reason: "ANSWERED",
	})
	if err != nil {
		return err
	}
	return s.Err()
}
