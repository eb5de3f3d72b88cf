package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/app/doctor"
)

func TestWriteFindings(t *testing.T) {
	found := []doctor.Finding{
		{Subject: "configuration", Level: doctor.OK, Detail: "3 components in dogwatch.yaml and the environment"},
		{
			Subject: "watcher.docker.local", Level: doctor.Fail,
			Detail: "docker engine at unix:///var/run/docker.sock: connect: permission denied",
			Remedy: "/var/run/docker.sock belongs to group 998, of which user 1000 is not: add group_add: [\"998\"] to the service",
		},
		{Subject: "container local/evil\x1b[31m", Level: doctor.Warn, Detail: "two\nlines and a bell\a", Remedy: "none"},
	}
	for name, s := range map[string]style{
		"": {}, "-30": {width: 30}, "-80": {width: 80}, "-80-colour": {width: 80, colour: true},
	} {
		var out bytes.Buffer
		if err := s.writeFindings(&out, found, false, 832*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		golden(t, "doctor"+name+".txt", out.String())
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if s.width > 0 && !s.colour && utf8.RuneCountInString(line) > s.width {
				t.Errorf("wider than %d: %q", s.width, line)
			}
			if !s.colour && strings.ContainsAny(line, "\x1b\a") {
				t.Errorf("a terminal would obey %q", line)
			}
		}
	}
	var out bytes.Buffer
	if err := (style{}).writeFindings(&out, found[:1], true, 0); err != nil || out.Len() > 0 {
		t.Errorf("%v, and nothing to tell is told as %q", err, out.String())
	}
}
