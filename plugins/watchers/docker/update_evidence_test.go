package docker

import (
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestHidingTakesOutTheSecretsOfAContainer(t *testing.T) {
	hide := hiding(&container.Config{
		Env: []string{
			"POSTGRES_PASSWORD=pa ss/w&rd", "API_KEY=abcd1234", "ALLOW_EMPTY_PASSWORD=true", "DATABASE_URL=postgres://app:s3cr3t@db/app",
			"LEVEL=debug", "PIN_TOKEN=yes",
		},
		Cmd: []string{"serve", "--admin-token=t0psecret", "--password", "0ther", "--port", "8080"},
	})
	for text, want := range map[string]string{
		"password pa ss/w&rd is wrong":                 "password *** is wrong",
		"GET /?p=pa+ss%2Fw%26rd":                       "GET /?p=***",
		"key abcd1234, t0psecret or 0ther":             "key ***, *** or ***",
		"is true, level debug, on 8080: yes":           "is true, level debug, on 8080: yes",
		"cannot reach postgres://app:s3cr3t@db/app":    "cannot reach postgres://app:***@db/app",
		"cannot reach redis://:elsewhere@cache:6379/0": "cannot reach redis://:***@cache:6379/0",
		"token=fromafile12345 refused":                 "token=*** refused",
		`{"password": "fromafile12345"}`:               `{"password": "***"}`,
		"Authorization: Bearer eyJhbGciOiJIUzI1NiJ9":   "Authorization: Bearer ***",
		"\x1b[31munexpected token: }\x1b[0m":           "unexpected token: }",
		"password authentication failed for user app":  "password authentication failed for user app",
	} {
		if got := hide(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := hide("a\xffb"); !strings.Contains(got, "\uFFFD") {
		t.Errorf("what is no UTF-8 became %q", got)
	}
}
