package words

import "testing"

func TestLeft(t *testing.T) {
	for _, test := range []struct {
		status   string
		exitCode int
		want     string
	}{
		{"exited", 3, "exited, exit code 3"}, {"running, unhealthy", 0, "running, unhealthy"}, {"paused", 0, "paused"},
		{"dead", 137, "dead, exit code 137"}, {"removing", 0, "removing, exit code 0"},
	} {
		if got := Left(test.status, test.exitCode).String(); got != test.want {
			t.Errorf("%s %d: %q, want %q", test.status, test.exitCode, got, test.want)
		}
	}
}

func TestShownAndRuleSource(t *testing.T) {
	for text, want := range map[string]string{"no tag": "no tag", "base node:22": "base node:22", "1.2": "1.2"} {
		if got := Shown(text).String(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, source := range []string{"label a.b from the image", "label a.b", "policy.update"} {
		if got := RuleSource(source).String(); got != source {
			t.Errorf("%q: %q", source, got)
		}
	}
}
