// Package ifttt triggers an event of the Webhooks service of IFTTT: https://ifttt.com/maker_webhooks.
package ifttt

import (
	"net/url"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one ifttt trigger.
type Options struct {
	Key   string   `option:"key,required,secret" help:"Key of your account, from the documentation page of the Webhooks service" example:"secret"`
	Event string   `option:"event" default:"wud-image" help:"Event that the applet waits for"`
	URL   *url.URL `option:"url,mask=url" default:"https://maker.ifttt.com" help:"Address of the Webhooks service; change it to go through a gateway of yours"`
	httpclient.Options
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("ifttt", "Trigger an IFTTT event", New,
		kind.Docs("https://help.ifttt.com/hc/en-us/articles/115010230347"))
}

// values are what an applet gets: value1 to value3 are the only names that the service knows.
type values struct {
	Value1 string `json:"value1"`
	Value2 string `json:"value2,omitempty"`
	Value3 string `json:"value3,omitempty"`
}

// New returns a trigger of one event.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if strings.Contains(o.Key, "/") {
		return nil, sdk.Invalid("key", "want the key only, not the address it is part of")
	}
	if strings.ContainsAny(o.Event, "/ ") || o.Event == "." || o.Event == ".." {
		return nil, sdk.Invalid("event", "want letters, digits, - and _, got %q", o.Event)
	}
	// A key that the service does not know is a 401.
	address := o.URL.JoinPath("trigger", url.PathEscape(o.Event), "with/key", url.PathEscape(o.Key))
	return chat.PostingJSON(env, o.Options, address.String(), nil, []string{o.Key}, valuesOf)
}

// valuesOf are the name, the new tag and all of a container, the list of a batch,
// or the message and all of an event.
// The service states no limit; JSON that was cut would be of no use.
func valuesOf(req trigger.Request) (values, error) {
	all, err := httpclient.EncodeJSON(message.Content(req))
	switch {
	case req.Event != nil:
		return values{Value1: req.Title, Value2: req.Body, Value3: string(all)}, err
	case req.Batch || len(req.Containers) != 1:
		return values{Value1: string(all)}, err
	}
	v := values{Value1: req.Containers[0].Name, Value3: string(all)}
	if found := req.Containers[0].Result; found != nil {
		v.Value2 = found.Tag
	}
	return v, err
}
