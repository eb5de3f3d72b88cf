package config

import (
	"slices"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	for _, test := range []struct{ file, problem string }{
		{"", ""},
		{"scan:\n  command: trivy", ""},
		{"scan:\n  command: [grype]\n  automatic: true\n  hold: critical", ""},
		{"scan:\n  command: [sh, -c, 'exec scan \"$1\"', scan, '${image}']", ""},
		{"scan:\n  command: trivy,image,--format,json,${image}", ""},
		{"scan:\n  command: trivvy", "no ${image}"},
		{"scan:\n  command: trivy image ${image}", "one word with spaces"},
		{"scan:\n  command: ['${image}', x]", "in place of the program"},
		{"scan:\n  command: trivy\n  timeout: 5ms", "scan.timeout"},
		{"scan:\n  command: trivy\n  maxage: -1s", "scan.maxage"},
		{"scan:\n  command: trivy\n  env: TOKEN=x", "scan.env"},
		{"scan:\n  command: trivy\n  hold: high", "scan.automatic"},
		{"scan:\n  command: trivy\n  hold: awful", "scan.hold"},
		{"scan:\n  automatic: true", "there is no scanner"},
		{"policy:\n  security: critical", "policy.security"},
		{"policies:\n  fast:\n    security: high", "policies.fast.security"},
		{"policies:\n  fast:\n    security: high\nscan:\n  command: trivy", ""},
	} {
		c, err := loadFile(test.file)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, p := range c.Problems {
			all = append(all, p.String())
		}
		if test.problem == "" && len(all) > 0 ||
			test.problem != "" && (len(all) != 1 || !strings.Contains(all[0], test.problem)) {
			t.Errorf("%q: %q, want %q", test.file, all, test.problem)
		}
	}
	c, _ := loadFile("scan:\n  command: trivy,image,${image}")
	if !slices.Equal(c.Scan.Command, []string{"trivy", "image", "${image}"}) || !c.Scan.Enabled() {
		t.Errorf("%q", c.Scan.Command)
	}
}
