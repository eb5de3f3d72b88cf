package tag

import (
	"fmt"
	"strings"
	"testing"
)

func TestBehind(t *testing.T) {
	for _, test := range []struct{ current, tags, want string }{
		{"latest", "1.27.2 latest 1 1.27 1.27.3 1.27.3-alpine stable", "1.27.3 1.27.2 1.27 1"},
		{"lts-alpine", "22.11.0-alpine 22-alpine lts-alpine 23.2.0-alpine 22.11.0 alpine",
			"23.2.0-alpine 22.11.0-alpine 22-alpine"},
		{"alpine", "1.27.2-alpine 1.27.2 1.27.2-alpine-slim", "1.27.2-alpine"},
		{"16-alpine", "16.3-alpine 16.4-alpine 16.4 17.0-alpine 16-alpine 160.1-alpine", "16.4-alpine 16.3-alpine"},
		{"1.27", "1.27.3 1.27.2 1.27.3-alpine 1.28.0 1.26.9", "1.27.3 1.27.2"},
		{"1.27.3", "1.27.3 1.27.4", ""},
		{"latest", "v2.0.0 v2.0.0-rc.1 v1.9.0 20240115 main sha-0123abc", "v2.0.0 v1.9.0 20240115 v2.0.0-rc.1"},
		{"latest", "2024.11.3 2024.10.1", "2024.11.3 2024.10.1"},
		{"latest", "4.0.9 4.0.9-ls45 4.0.8-r2", "4.0.9 4.0.8-r2"},
		{"latest", "", ""},
		{"", "1.0", ""},
	} {
		if got := strings.Join(SpecificTags(test.current, strings.Fields(test.tags)), " "); got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.current, test.tags, got, test.want)
		}
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("1.%d.0", i))
	}
	if got := SpecificTags("latest", many); len(got) != maxSpecific || got[0] != "1.999.0" {
		t.Errorf("%d tags, the first %q", len(got), got[0])
	}
}
