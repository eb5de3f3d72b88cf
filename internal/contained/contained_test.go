package contained

import (
	"strings"
	"testing"
)

func TestExplainNamesTheContainerItself(t *testing.T) {
	for failure, want := range map[string]string{
		"dial tcp 127.0.0.1:25: connect: connection refused":                                             "127.0.0.1 means Dogwatch's own container: ",
		"GET http://localhost:5000: dial tcp [::1]:5000: connect: connection refused":                    "localhost means Dogwatch's own container: ",
		"docker engine at http://127.0.0.1:2375: connect: nothing listens there: is the engine running?": "127.0.0.1 means Dogwatch's own container: ",
		"dial tcp [::1]:1883: connect: connection refused":                                               "[::1] means Dogwatch's own container: ",
		"dial tcp 192.168.1.5:25: connect: connection refused":                                           "",
		"dial tcp 127.0.0.1:25: i/o timeout":                                                             "",
		"GET http://localhost.example.org:80: connect: connection refused":                               "",
		"GET http://my-localhost:80: connect: connection refused":                                        "",
		"connection refused": "",
	} {
		if got := Explain(failure); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", failure, got, want)
		}
	}
}

func TestHereInPod(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	if !Here() {
		t.Error("a pod is no container")
	}
}
