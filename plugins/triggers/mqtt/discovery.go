package mqtt

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/dogwatch/dogwatch/internal/webaddress"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// install is what Home Assistant publishes when a user presses Install.
const install = "INSTALL"

const (
	// versioned finds out whether the versions of the images are shown instead of their tag: both
	// where a tag was rebuilt, and else that of a tag such as latest while nothing is newer.
	versioned = `{% set running = value_json.image_version | default("", true) %}{% set next = value_json.result_version | default("", true) %}` +
		`{% set rebuilt = value_json.update_kind_kind == "digest" %}` +
		`{% set versioned = running != "" and (next not in ["", running] if rebuilt else not value_json.image_tag_semver and not value_json.update_available) %}`
	// runningTag reads the installed version from a container's state, whether it is being replaced, how far that is
	// and what is decided about its update.
	runningTag = versioned +
		`{{ {"installed_version": running if versioned else value_json.image_tag_value, "in_progress": value_json.in_progress | default(false), "update_percentage": value_json.update_percentage | default(none), "release_summary": value_json.release_summary | default("")} | to_json }}`
	// newestVersion reads the version to offer; nothing where it is not known whether there is one, so that Home
	// Assistant does not show it as up to date: where a tag was rebuilt the version of its image, or the
	// digest, cut as WUD does; else the tag.
	newestVersion = versioned + `{% set digest = (value_json.result_digest | default("", true))[:15] %}` +
		`{% if value_json.check_state | default("", true) == "unknown" and not value_json.update_available %}` +
		`{% elif versioned %}{{ next if rebuilt else running }}` +
		`{% elif rebuilt %}{{ digest }}` +
		`{% elif value_json.result_tag is defined %}{{ value_json.result_tag }}` +
		`{% else %}{{ digest or value_json.image_tag_value }}{% endif %}`
)

// hass makes what Home Assistant gets.
type hass struct {
	brand     brand
	names     names
	prefix    string
	discovery bool
	install   string // the trigger behind the Install button; "" for no button
	decide    bool   // whether there are buttons with which to decide
	version   string
}

// discovery is the configuration of an entity, in the words of
// https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery and of the
// pages of update, sensor, binary_sensor and button.
type discovery struct {
	UniqueID              string `json:"unique_id"`
	DefaultEntityID       string `json:"default_entity_id"`
	Name                  string `json:"name"`
	Device                device `json:"device"`
	Origin                origin `json:"origin"`
	Icon                  string `json:"icon"`
	StateTopic            string `json:"state_topic,omitempty"`
	ForceUpdate           bool   `json:"force_update,omitempty"`
	ValueTemplate         string `json:"value_template,omitempty"`
	LatestVersionTopic    string `json:"latest_version_topic,omitempty"`
	LatestVersionTemplate string `json:"latest_version_template,omitempty"`
	ReleaseURL            string `json:"release_url,omitempty"`
	JSONAttributesTopic   string `json:"json_attributes_topic,omitempty"`
	CommandTopic          string `json:"command_topic,omitempty"`
	PayloadInstall        string `json:"payload_install,omitempty"`
	DeviceClass           string `json:"device_class,omitempty"`
	PayloadPress          string `json:"payload_press,omitempty"`
	PayloadOn             string `json:"payload_on,omitempty"`
	PayloadOff            string `json:"payload_off,omitempty"`
}

// device is the one device of all entities. It is WUD's where WUD's names are, for another would orphan the users'
// entities.
type device struct {
	Identifiers  []string `json:"identifiers"`
	Manufacturer string   `json:"manufacturer"`
	Model        string   `json:"model"`
	Name         string   `json:"name"`
	SWVersion    string   `json:"sw_version,omitempty"`
}

type origin struct {
	Name      string `json:"name"`
	SWVersion string `json:"sw_version,omitempty"`
}

const (
	defaultIcon = "mdi:docker"
	update      = "update"
	sensor      = "sensor"
	binary      = "binary_sensor"
	button      = "button"
)

// announce makes the discovery of an entity.
func (h *hass) announce(component, topic string, d discovery) message {
	d.UniqueID = entity(topic)
	d.DefaultEntityID = component + "." + d.UniqueID
	d.Device = h.device()
	d.Origin = origin{Name: "Dogwatch", SWVersion: h.version}
	if component != button { // which has no state
		d.StateTopic = topic
	}
	d.Icon = cmp.Or(d.Icon, defaultIcon)
	payload, err := httpclient.EncodeJSON(d)
	if err != nil {
		panic("encode a discovery: " + err.Error()) // texts always have a JSON form
	}
	return message{h.announcement(component, topic), bytes.TrimSpace(payload)}
}

func (h *hass) device() device {
	if h.brand != "" {
		name := h.brand.String()
		return device{Identifiers: []string{name}, Manufacturer: name, Model: name, Name: name, SWVersion: h.version}
	}
	return device{Identifiers: []string{"dogwatch"}, Manufacturer: "Dogwatch", Model: "Dogwatch", Name: "Dogwatch",
		SWVersion: h.version}
}

// announcement is the topic of the discovery of an entity.
func (h *hass) announcement(component, topic string) string {
	return h.prefix + "/" + component + "/" + entity(topic) + "/config"
}

// container announces the update entity of a container.
func (h *hass) container(c sdk.Container, topic string) message {
	d := discovery{
		Name: c.DisplayName, Icon: icon(c.DisplayIcon), ForceUpdate: true, ValueTemplate: runningTag,
		LatestVersionTopic: topic, LatestVersionTemplate: newestVersion, JSONAttributesTopic: topic,
	}
	d.Name = cmp.Or(d.Name, c.Name)
	if c.Result != nil {
		d.ReleaseURL = webaddress.Of(c.Result.Link)
	}
	if h.install != "" {
		d.CommandTopic, d.PayloadInstall = command(topic), install
	}
	return h.announce(update, topic, d)
}

// command is the topic on which the update of a container is requested.
func command(topic string) string { return topic + "/install" }

// connection announces whether Dogwatch is online.
func (h *hass) connection() message {
	return h.announce(binary, h.names.status(), discovery{
		Name: "Connection status", DeviceClass: "connectivity", PayloadOn: online, PayloadOff: offline,
	})
}

// counts returns how many containers there are, how many have an update, and whether any has.
func (h *hass) counts(name string, topic func(what string) string, containers, updates int) []message {
	all := []message{
		{topic(totalCount), []byte(strconv.Itoa(containers))},
		{topic(updateCount), []byte(strconv.Itoa(updates))},
		{topic(updateStatus), truth(updates > 0)},
	}
	if !h.discovery {
		return all
	}
	return append([]message{
		h.announce(sensor, topic(totalCount), discovery{Name: name + " container count"}),
		h.announce(sensor, topic(updateCount), discovery{Name: name + " container update count"}),
		h.announce(binary, topic(updateStatus), yesOrNo(name+" container update status")),
	}, all...)
}

// running returns whether a watcher is checking.
func (h *hass) running(w trigger.WatcherState) []message {
	topic := h.names.ofWatcher(w.Name, running)
	state := message{topic, truth(w.Checking)}
	if !h.discovery {
		return []message{state}
	}
	return []message{h.announce(binary, topic, yesOrNo("Watcher "+w.Name+" running status")), state}
}

func yesOrNo(name string) discovery {
	return discovery{Name: name, PayloadOn: "true", PayloadOff: "false"}
}

func truth(value bool) []byte { return strconv.AppendBool(nil, value) }

// icon writes an icon as Home Assistant wants it, with a colon after the name
// of the set. It refuses an entity whose icon has none.
func icon(display string) string {
	for _, set := range []string{"mdi", "fa", "fab", "far", "fas", "si"} {
		display = strings.Replace(display, set+"-", set+":", 1)
	}
	if !strings.Contains(display, ":") {
		return defaultIcon
	}
	return display
}
