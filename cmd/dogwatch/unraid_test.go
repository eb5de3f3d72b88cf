package main

import (
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
)

// TestUnraidTemplate: what a user of Unraid has to fill in is a configuration without a problem, and nothing that may
// stay empty is passed.
func TestUnraidTemplate(t *testing.T) {
	text, err := os.ReadFile("../../packaging/unraid/dogwatch.xml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Repository string
		Config     []struct {
			Target   string `xml:",attr"`
			Type     string `xml:",attr"`
			Required bool   `xml:",attr"`
		}
	}
	if err := xml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	environ := map[string]string{}
	for _, c := range template.Config {
		if !c.Required {
			t.Errorf("%s may stay empty", c.Target)
		}
		if c.Type == "Variable" {
			environ[c.Target] = "ana"
		}
	}
	const hash = "DOGWATCH_AUTH_BASIC_MAIN_HASH"
	if _, asked := environ[hash]; !asked || template.Repository != config.Image {
		t.Errorf("%+v", template)
	}
	environ[hash] = "$2a$10$1skjScRGJ/sYKX66I41OL.MPFKbgrAnmFfgEgW6FrRXhfTJoSP8nK"
	if out := validate(t, environ); !strings.HasPrefix(out, "no problems") {
		t.Error(out)
	}
}
