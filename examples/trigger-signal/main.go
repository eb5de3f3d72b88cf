// Command trigger-signal is a Dogwatch plugin with one type of trigger, "signal",
// which sends messages with Signal by a signal-cli-rest-api of the user's own.
package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// version is set when the plugin is built: -ldflags "-X main.version=1.0.0".
var version = "dev"

func main() {
	plugin.Serve(plugin.Bundle{Version: version, Triggers: []trigger.Type{signalType()}})
}

func signalType() trigger.Type {
	return trigger.Define("signal", "Send messages with Signal", newSignal)
}

// options are the schema that the host documents and checks.
type options struct {
	URL        *url.URL `option:"url,required,mask=url" help:"Address of a signal-cli-rest-api, with user:password@ if a proxy in front of it wants them" example:"http://signal:8080"`
	Number     string   `option:"number,required" help:"Number that messages are from, which is registered or linked there" example:"+431212131491291"`
	Recipients []string `option:"recipients,required" help:"Who gets them: numbers, user names, or ids of groups as GET /v1/groups/NUMBER has them" example:"+4354546464654"`
	httpclient.Options
}

// signal uses the API that https://bbernhard.github.io/signal-cli-rest-api/ describes.
type signal struct {
	options
	client *httpclient.Client
}

var numberForm = regexp.MustCompile(`^\+[0-9]{5,15}$`)

func newSignal(env sdk.Env, o options) (*signal, error) {
	switch {
	case o.URL.Scheme != "http" && o.URL.Scheme != "https" || o.URL.Host == "":
		return nil, sdk.Invalid("url", "want an address that starts with http:// or https://")
	case !numberForm.MatchString(o.Number):
		return nil, sdk.Invalid("number", "want a number with its country, such as +431212131491291, got %q", o.Number)
	case slices.Contains(o.Recipients, ""):
		return nil, sdk.Invalid("recipients", "one of them is empty")
	}
	client, err := httpclient.New(env, o.Options, httpclient.SecretParts(o.URL)...)
	if err != nil {
		return nil, err
	}
	return &signal{options: o, client: client}, nil
}

// message is the body of POST /v2/send.
type message struct {
	Message    string   `json:"message"`
	Number     string   `json:"number"`
	Recipients []string `json:"recipients"`
}

// Run sends one message to all recipients.
func (s *signal) Run(ctx context.Context, req trigger.Request) error {
	text := req.Title + "\n\n" + req.Body
	if req.Title == "" || req.Body == "" {
		text = cmp.Or(req.Title, req.Body, "Dogwatch") // an empty message is refused
	}
	return s.client.JSON(ctx, http.MethodPost, s.URL.JoinPath("v2", "send").String(), nil,
		message{text, s.Number, s.Recipients}, nil)
}

// Probe looks whether the number is registered or linked there: GET /v1/accounts has the numbers that are, see
// https://bbernhard.github.io/signal-cli-rest-api/#/Accounts.
func (s *signal) Probe(ctx context.Context, _ sdk.ProbeRequest) (sdk.ProbeResult, error) {
	var accounts []string
	err := s.client.JSON(ctx, http.MethodGet, s.URL.JoinPath("v1", "accounts").String(), nil, nil, &accounts)
	if err != nil {
		return sdk.ProbeResult{}, err
	}
	if !slices.Contains(accounts, s.Number) {
		return sdk.ProbeResult{}, sdk.WithRemedy(sdk.WithKind(sdk.ErrNotFound,
			fmt.Errorf("the number %s is not registered there", s.Number)),
			"link it: open /v1/qrcodelink?device_name=dogwatch of that address, and scan it with Signal")
	}
	return sdk.ProbeResult{Summary: "the number is registered"}, nil
}

// Close is called once, after the last call.
func (s *signal) Close() error {
	s.client.Close()
	return nil
}
