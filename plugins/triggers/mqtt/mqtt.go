// Package mqtt publishes the state of all containers and watchers to an MQTT
// broker (version 3.1.1) and announces them to Home Assistant, as
// https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery describes.
//
// Keys are those of WUD, and so are topics and the names of entities for who comes from WUD or has published
// under them, so that dashboards and automations go on working. Everything is retained; what is gone is cleared.
package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/go-hclog"

	note "github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Options configures one mqtt trigger.
type Options struct {
	URL      *url.URL `option:"url,required,mask=url" help:"Address of the broker: mqtt:// or tcp://, mqtts:// or tls://, ws:// or wss://" example:"mqtt://mosquitto:1883"`
	Topic    string   `option:"topic" help:"Topic below which everything is published; without it dogwatch/container, or wud/container for who comes from WUD or has published there before"`
	ClientID string   `option:"clientid" help:"Client identifier, which no other client of the broker may have; without it dogwatch_ (or wud_, as with topic) and random digits"`
	User     string   `option:"user" help:"User name" example:"dogwatch"`
	Password string   `option:"password,secret" help:"Password of user" example:"secret"`
	QoS      int      `option:"qos" default:"0" min:"0" max:"2" help:"Quality of service of what is published"`
	Exclude  []string `option:"exclude" help:"Keys to leave out of the containers' JSON; a * at the end stands for any rest, as in labels_*"`
	Hass     Hass     `option:"hass"`
	TLS      TLS      `option:"tls"`
}

// Hass is what Home Assistant gets.
type Hass struct {
	Enabled   bool   `option:"enabled" default:"false" help:"Publish counts, what watchers do and whether Dogwatch is online, for Home Assistant"`
	Prefix    string `option:"prefix" default:"homeassistant" help:"Discovery prefix of Home Assistant"`
	Discovery *bool  `option:"discovery" help:"Announce entities to Home Assistant; without it as hass.enabled"`
	Decide    bool   `option:"decide" default:"false" help:"Announce buttons to approve, skip and snooze the update of a container; whoever may publish to the broker can press them"`
	Install   string `option:"install,refers=trigger" help:"Trigger that the Install button of Home Assistant runs, such as docker.local; whoever may publish to the broker can press it; without it there is no button"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("mqtt", "Publish the state of all containers to an MQTT broker and to Home Assistant", New,
		kind.Needs(kind.CapRun), kind.Needs(kind.CapDecide),
		kind.Docs("https://www.home-assistant.io/integrations/update.mqtt/"))
}

// mqtt is one configured trigger. Its connection is shared by Subscribe and Run.
type mqtt struct {
	log        hclog.Logger
	connection *connection
	names      names
	exclude    []string
	hass       *hass // nil when it is not enabled
	retained   *retained
}

// New returns a trigger that connects to nothing yet.
func New(env sdk.Env, o Options) (*mqtt, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	address, err := o.address(env.Warn)
	if err != nil {
		return nil, err
	}
	own := brand(os.Getenv(namesVariable))
	m := &mqtt{
		log: env.Log, names: names{root: cmp.Or(o.Topic, own.root())}, exclude: o.Exclude, retained: newRetained(),
		connection: &connection{brand: own, broker: address, qos: byte(o.QoS), semaphore: make(chan struct{}, 1)},
	}
	if o.Hass.Enabled {
		_, version, _ := strings.Cut(env.UserAgent, "/")
		m.names.reserved = true
		m.hass = &hass{brand: own, names: m.names, prefix: o.Hass.Prefix, discovery: o.Hass.Discovery == nil ||
			*o.Hass.Discovery, install: strings.ToLower(o.Hass.Install), decide: o.Hass.Decide, version: version}
		m.connection.will = message{m.names.status(), []byte(offline)}
	}
	return m, nil
}

// check refuses what the schema cannot.
func (o Options) check() error {
	for name, topic := range map[string]string{"topic": o.Topic, "hass.prefix": o.Hass.Prefix} {
		if topic == "" && name == "topic" { // which has a default
			continue
		}
		if topic == "" || strings.ContainsAny(topic, "+#") || strings.ContainsFunc(topic, unicode.IsControl) {
			return sdk.Invalid(name, "want a topic without + and #, got %q", topic)
		}
	}
	if o.Password != "" && o.User == "" {
		return sdk.Invalid("user", "is required with password")
	}
	if o.Hass.Install != "" {
		if typ, name, dotted := strings.Cut(o.Hass.Install, "."); !dotted || typ == "" || name == "" {
			return sdk.Invalid("hass.install", "want the id of a trigger, such as docker.local, got %q", o.Hass.Install)
		}
		if !o.Hass.Enabled {
			return sdk.Invalid("hass.install", "has no effect without hass.enabled")
		}
	}
	if o.Hass.Decide && !o.Hass.Enabled {
		return sdk.Invalid("hass.decide", "has no effect without hass.enabled")
	}
	if slices.Contains(o.Exclude, "*") {
		return sdk.Invalid("exclude", "leaves nothing to publish")
	}
	return nil
}

// Run publishes the state of the containers, one message each, whatever the
// mode, or an event, and fails when the broker does not get them. A test is
// not retained, nor is an event.
func (m *mqtt) Run(ctx context.Context, req trigger.Request) error {
	s, leave, err := m.connection.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	var all []message
	for _, c := range req.Containers {
		all = append(all, message{m.names.container(c), state(c, m.exclude, idle)})
	}
	if req.Event != nil {
		payload, err := httpclient.EncodeJSON(note.EventOf(req))
		if err != nil {
			return err
		}
		all = append(all, message{m.names.event(), payload})
	}
	if req.Test || req.Event != nil {
		err = s.publish(ctx, all, false)
	} else {
		err = m.retained.put(ctx, s, all)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("publish to %s: %w", m.connection.broker, err)
	}
	return err
}
