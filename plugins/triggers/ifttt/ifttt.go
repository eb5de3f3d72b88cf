// Package ifttt triggers an event of the Webhooks service of IFTTT: https://ifttt.com/maker_webhooks.
package ifttt

import (
	"context"
	"net/http"
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

type ifttt struct {
	chat.Connection
	url string
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
	client, err := chat.Connect(env, o.Options, o.Key)
	if err != nil {
		return nil, err
	}
	address := o.URL.JoinPath("trigger", url.PathEscape(o.Event), "with/key", url.PathEscape(o.Key))
	return &ifttt{Connection: client, url: address.String()}, nil
}

// Run triggers the event once. A key that the service does not know is a 401.
func (i *ifttt) Run(ctx context.Context, req trigger.Request) error {
	v, err := valuesOf(req)
	if err != nil {
		return err
	}
	return i.JSON(ctx, http.MethodPost, i.url, nil, v, nil)
}

// valuesOf are the name, the new tag and all of a container, the list of a batch,
// or the message and all of an event.
// The service states no limit; JSON that was cut would be of no use.
func valuesOf(req trigger.Request) (values, error) {
	if req.Event != nil {
		all, err := httpclient.EncodeJSON(message.EventOf(req))
		return values{Value1: req.Title, Value2: req.Body, Value3: string(all)}, err
	}
	if req.Batch || len(req.Containers) != 1 {
		containers := req.Containers
		if containers == nil {
			containers = []sdk.Container{}
		}
		list, err := httpclient.EncodeJSON(containers)
		return values{Value1: string(list)}, err
	}
	c := req.Containers[0]
	v := values{Value1: c.Name}
	if c.Result != nil {
		v.Value2 = c.Result.Tag
	}
	all, err := httpclient.EncodeJSON(c)
	v.Value3 = string(all)
	return v, err
}
