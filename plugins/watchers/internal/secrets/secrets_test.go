package secrets

import (
	"strings"
	"testing"
)

// TestHidingTakesOutWhatIsNamedASecret: from one character on, however it is written, and not what is said about it.
func TestHidingTakesOutWhatIsNamedASecret(t *testing.T) {
	hide := Hiding(nil)
	for text, want := range map[string]string{
		"password=x":                             "password=***",
		"PGPASSWORD=a1 host=db":                  "PGPASSWORD=*** host=db",
		"db_pass: abc, port: 1":                  "db_pass: ***, port: 1",
		"passwd = hunter2;":                      "passwd = ***;",
		"smtp.pwd=ab":                            "smtp.pwd=***",
		"client_secret=s&next=1":                 "client_secret=***&next=1",
		"GET /?token=t&a=b":                      "GET /?token=***&a=b",
		"X-Api-Key: k":                           "X-Api-Key: ***",
		"api_key: 'k e y'":                       "api_key: '***'",
		"apikey=>\"k\"":                          "apikey=>\"***\"",
		"SECRET_KEY=abcd":                        "SECRET_KEY=***",
		"AWS_SECRET_ACCESS_KEY=a/b+c=":           "AWS_SECRET_ACCESS_KEY=***",
		`{"password": "a \"b\" c", "user": "d"}`: `{"password": "***", "user": "d"}`,
		`msg="{\"token\":\"t\",\"n\":1}"`:        `msg="{\"token\":\"***\",\"n\":1}"`,
		"{Password:p Host:db}":                   "{Password:*** Host:db}",
		"Authorization: Basic dXNlcg==":          "Authorization: Basic ***",
		"authorization=k":                        "authorization=***",
		"Authorization: token abc":               "Authorization: token ***",
		"password=!":                             "password=***",
		"passphrase: é":                          "passphrase: ***",

		"password: must not be empty":                "password: must not be empty",
		"password is wrong, token expired":           "password is wrong, token expired",
		"token: invalid.":                            "token: invalid.",
		"secret=true api_key=null":                   "secret=true api_key=null",
		"Enter password:\nready":                     "Enter password:\nready",
		"unexpected token: b at 3":                   "unexpected token: b at 3",
		"Unexpected token } in JSON":                 "Unexpected token } in JSON",
		"tokens: 12, token_count=3, passwordless: y": "tokens: 12, token_count=3, passwordless: y",
		"pass: 12, fail: 3":                          "pass: 12, fail: 3",
		"PWD=/app PATH=/bin primary_key=5":           "PWD=/app PATH=/bin primary_key=5",
		"panic in token::next":                       "panic in token::next",
		"author: ana, authority: b":                  "author: ana, authority: b",
	} {
		if got := hide(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestHidingTakesOutTheSecretsOfAContainer(t *testing.T) {
	hide := Hiding([]string{
		"POSTGRES_PASSWORD=pa ss/w&rd", "API_KEY=abcd1234", "ALLOW_EMPTY_PASSWORD=true",
		"DATABASE_URL=postgres://app:s3cr3t@db/app",
		"LEVEL=debug", "PIN_TOKEN=yes", "serve", "--admin-token=t0psecret", "--password", "0ther", "--port", "8080",
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
