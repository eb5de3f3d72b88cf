package mqtt

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func mustURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}

// What Home Assistant documents for every entity announced over MQTT, and for
// the three components: https://www.home-assistant.io/integrations/mqtt/ and
// its pages update.mqtt, sensor.mqtt and binary_sensor.mqtt. The value is the
// type of JSON.
var (
	common = map[string]string{
		"unique_id": "string", "default_entity_id": "string", "name": "string", "icon": "string", "device": "object",
		"origin":             "object",
		"availability_topic": "string", "entity_category": "string", "entity_picture": "string",
		"json_attributes_topic":    "string",
		"json_attributes_template": "string", "qos": "number", "encoding": "string", "enabled_by_default": "bool",
		"state_topic": "string", "value_template": "string",
		// Documented for the sensors only. WUD sends it for updates too, where it has no effect.
		"force_update": "bool",
	}
	components = map[string]map[string]string{
		update: {
			"command_topic": "string", "payload_install": "string", "latest_version_topic": "string",
			"latest_version_template": "string",
			"release_summary":         "string", "release_url": "string", "title": "string", "retain": "bool",
			"device_class": "string", "display_precision": "number",
		},
		sensor: {
			"device_class": "string", "state_class": "string", "unit_of_measurement": "string",
			"expire_after": "number", "suggested_display_precision": "number",
		},
		button: {"command_topic": "string", "payload_press": "string", "device_class": "string", "retain": "bool"},
		binary: {
			"device_class": "string", "payload_on": "string", "payload_off": "string", "off_delay": "number",
			"expire_after": "number",
		},
	}
	deviceFields = []string{"identifiers", "connections", "manufacturer", "model", "name", "sw_version", "hw_version",
		"configuration_url", "via_device", "suggested_area"}
	originFields = []string{"name", "sw_version", "support_url"}

	discoveryTopic = regexp.MustCompile(`^[^/+#]+/(update|sensor|binary_sensor|button)/[a-zA-Z0-9_-]+/config$`)
	iconForm       = regexp.MustCompile(`^[^:]+:.+$`)
	binaryClasses  = []string{"connectivity", "running", "update", "problem"}
)

func jsonType(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case float64:
		return "number"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// wrong returns what Home Assistant would refuse or ignore in a discovery.
func wrong(topic, payload string) (problems []string) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	at := discoveryTopic.FindStringSubmatch(topic)
	if at == nil {
		return []string{"not a topic of discovery: " + topic}
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(payload), &fields); err != nil {
		return []string{err.Error()}
	}
	allowed := maps.Clone(common)
	maps.Copy(allowed, components[at[1]])
	for name, v := range fields {
		if want, known := allowed[name]; !known {
			bad("%s has no field %s", at[1], name)
		} else if got := jsonType(v); got != want {
			bad("%s is a %s, want a %s", name, got, want)
		}
		text, _ := v.(string)
		if text == "" && jsonType(v) == "string" {
			bad("%s is empty", name)
		}
		if strings.HasSuffix(name, "_topic") && strings.ContainsAny(text, "+#\x00") {
			bad("%s is no topic: %s", name, text)
		}
		if strings.HasSuffix(name, "_template") {
			for _, pair := range []string{"{{ }}", "{% %}", "( )"} {
				open, shut, _ := strings.Cut(pair, " ")
				if strings.Count(text, open) != strings.Count(text, shut) {
					bad("%s is not balanced: %s", name, text)
				}
			}
		}
	}
	text := func(name string) string { s, _ := fields[name].(string); return s }
	needed := []string{"unique_id", "state_topic", "device"}
	if at[1] == button {
		needed[1] = "command_topic"
	}
	for _, name := range needed {
		if fields[name] == nil {
			bad("%s is missing", name)
		}
	}
	if !strings.HasPrefix(text("default_entity_id"), at[1]+".") {
		bad("default_entity_id %q is not of %s", text("default_entity_id"), at[1])
	}
	if icon := text("icon"); !iconForm.MatchString(icon) {
		bad("the icon %q has no colon", icon)
	}
	if at[1] == update && (fields["command_topic"] == nil) != (fields["payload_install"] == nil) {
		bad("command_topic and payload_install go together")
	}
	if class := text("device_class"); at[1] == binary && class != "" && !slices.Contains(binaryClasses, class) {
		bad("unknown device_class %q", class)
	}
	problems = append(problems, wrongMap("device", fields["device"], deviceFields, "identifiers")...)
	return append(problems, wrongMap("origin", fields["origin"], originFields, "name")...)
}

func wrongMap(what string, v any, allowed []string, required string) (problems []string) {
	fields, _ := v.(map[string]any)
	if fields[required] == nil {
		problems = append(problems, what+" has no "+required)
	}
	for name := range fields {
		if !slices.Contains(allowed, name) {
			problems = append(problems, what+" has no field "+name)
		}
	}
	return problems
}

// Every discovery that the golden files hold is as Home Assistant documents it.
func TestDiscoveryFollowsItsSchema(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "stream-*.txt"))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			topic, payload := lines[i], lines[i+1]
			if !strings.HasSuffix(topic, "/config") {
				continue
			}
			seen++
			for _, problem := range wrong(topic, payload) {
				t.Errorf("%s: %s: %s", file, topic, problem)
			}
			var d discovery
			if err := json.Unmarshal([]byte(payload), &d); err != nil {
				t.Fatal(err)
			}
			if key := strings.Split(topic, "/")[1] + d.UniqueID; ids[key] {
				t.Errorf("%s: the unique id %s is there twice", file, d.UniqueID)
			} else {
				ids[key] = true
			}
			if d.StateTopic != "" && !slices.Contains(lines, d.StateTopic) {
				t.Errorf("%s: nothing is published to %s", file, d.StateTopic)
			}
		}
	}
	if seen < 15 {
		t.Errorf("%d discoveries only", seen)
	}
}

func TestDiscoverySchemaRejectsMistakes(t *testing.T) {
	topic := "homeassistant/update/x/config"
	const good = `{"unique_id":"x","default_entity_id":"update.x","name":"n","icon":"mdi:docker","state_topic":"a/b","device":{"identifiers":["wud"]},"origin":{"name":"o"}}`
	if problems := wrong(topic, good); problems != nil {
		t.Errorf("a good one: %q", problems)
	}
	for from, to := range map[string]string{
		`"state_topic":"a/b"`: `"state_topic":"a/+"`, `"name":"n"`: `"nam":"n"`, `"unique_id":"x",`: ``,
		`mdi:docker`: `docker`,
		`update.x`:   `sensor.x`, `"identifiers"`: `"identifier"`, `"n",`: `"n","command_topic":"a/c",`, `"n"`: `7`,
		`"name":"o"`: `"nome":"o"`, `"n"}`: `"n"`,
		`"mdi:docker"`: `"mdi:docker","value_template":"{{ x }"`,
	} {
		if to != good && strings.Contains(good, from) && wrong(topic, strings.Replace(good, from, to, 1)) == nil {
			t.Errorf("%s for %s is not noticed", to, from)
		}
	}
	for _, topic := range []string{"homeassistant/update/a b/config", "homeassistant/light/x/config",
		"homeassistant/update/x.y/config"} {
		if wrong(topic, good) == nil {
			t.Errorf("the topic %s is not noticed", topic)
		}
	}
}

// Whatever a container is called, Home Assistant takes its discovery.
func FuzzDiscovery(f *testing.F) {
	for _, name := range []string{"nginx", "my.app", "a/b+c#d", "", "ünï", "\x00\u202e", strings.Repeat("x", 1000),
		"total_count"} {
		f.Add(name, "mdi-docker", "https://example.org")
	}
	f.Fuzz(func(t *testing.T, name, display, link string) {
		h := &hass{
			names: names{root: "wud/container", reserved: true}, prefix: "homeassistant", install: "docker.local", version: "1",
		}
		c := triggertest.Container("x")
		c.Name, c.DisplayName, c.DisplayIcon, c.Result = name, name, display, &sdk.Result{Link: link}
		topic := h.names.container(c)
		m := h.container(c, topic)
		for _, problem := range wrong(m.topic, string(m.payload)) {
			if name != "" || !strings.Contains(problem, "name is empty") {
				t.Errorf("%q: %s", name, problem)
			}
		}
		if !json.Valid(state(c, nil, work{busy: true, percent: 40})) {
			t.Errorf("%q: the state is no JSON", name)
		}
	})
}

func TestIcon(t *testing.T) {
	for display, want := range map[string]string{
		"": "mdi:docker", "mdi:docker": "mdi:docker", "mdi-docker": "mdi:docker", "si-redis": "si:redis",
		"fa-a": "fa:a", "fab-docker": "fab:docker",
		"far-a-b": "far:a-b", "fas-x": "fas:x", "docker": "mdi:docker",
		"https://example.org/a.png": "https://example.org/a.png",
	} {
		if got := icon(display); got != want {
			t.Errorf("%q is %q, want %q", display, got, want)
		}
	}
}

// TestReleaseURLIsAWebPage: Home Assistant makes a link of it.
func TestReleaseURLIsAWebPage(t *testing.T) {
	h := &hass{names: names{root: "wud/container"}, prefix: "homeassistant"}
	for link, want := range map[string]string{
		"https://example.org/v2": `"https://example.org/v2"`, "javascript:alert(1)": `""`, "data:text/html,x": `""`,
	} {
		c := sdk.Container{Name: "web", Result: &sdk.Result{Tag: "2", Link: link}}
		payload := string(h.container(c, "wud/container/local/web").payload)
		if has := strings.Contains(payload, `"release_url":`+want); !has &&
			!(want == `""` && !strings.Contains(payload, "release_url")) {
			t.Errorf("%s: %s", link, payload)
		}
	}
}
