package auth

import (
	"strings"
	"testing"
)

// TestHashFormats: the values were made with openssl passwd, or are test vectors of the reference implementations.
func TestHashFormats(t *testing.T) {
	for text, right := range map[string]string{
		cheap:                                   password,
		"$apr1$lcnrb7ca$Kpeabt2iBzn2c.g5a.YaP.": password,
		"$1$abcdefgh$jSv9qV/8/riYIHi9U3A75/":    password,
		"$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1":                    "Hello world!",
		"$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5":                                                               "Hello world!",
		"$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.": "Hello world!",
		"$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW":                                                            "U*U",
		"$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW":                                                            "U*U",
		"$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc":                                  "password",
		"clear-text-password": "clear-text-password",
	} {
		h, err := parseHash(" " + text + "\n")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !h.matches(right) {
			t.Errorf("%s does not match its password", text)
		}
		if h.matches("wrong") || h.matches("") {
			t.Errorf("%s matches a wrong password", text)
		}
		if h.plain() != (text == "clear-text-password") {
			t.Errorf("%s: plain is %v", text, h.plain())
		}
	}
}

func TestHashPassword(t *testing.T) {
	for _, scheme := range Schemes() {
		text, err := Hash(password, scheme)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Hash(password, scheme)
		if err != nil || again == text {
			t.Errorf("%s is not salted: %s, %v", scheme, again, err)
		}
		h, err := parseHash(text)
		if err != nil || !h.matches(password) || h.matches(password+"x") || h.matches("") {
			t.Errorf("%s: %s, %v", scheme, text, err)
		}
	}
	if _, err := Hash(strings.Repeat("x", 73), "bcrypt"); err == nil {
		t.Error("bcrypt would cut the password")
	}
	if _, err := Hash(password, "md5"); err == nil || !strings.Contains(err.Error(), "bcrypt and argon2id") {
		t.Error(err)
	}
}

// TestParseHashRejectsMalformed: a malformed hash is not taken for a password in clear, and no error repeats it.
func TestParseHashRejectsMalformed(t *testing.T) {
	for text, part := range map[string]string{
		"$$2y$$10$$abcdefghijklmnopqrstuv": "doubled",
		"$2y$10$short":                     "60 characters",
		"$2y$":                             "60 characters",
		"$apr1$salt":                       "apr1",
		"$apr1$$abc":                       "apr1",
		"$1$a":                             "apr1",
		"$5$salt$short":                    "sha-crypt",
		"$6$":                              "sha-crypt",
		"{SHA}not base64!":                 "complete",
		"{SSHA}YQ==":                       "complete",
		"{CRYPT}abc":                       "known kind",
		"$y$j9T$abc$def":                   "known kind",
		"$argon2i$v=19$m=16,t=2,p=1$MTIzNDU2Nzg$GpZ3sK/oH9p7VIiV56":           "known kind",
		"$argon2id$v=16$m=16,t=2,p=1$MTIzNDU2Nzg$MTIzNDU2NzgxMjM0NTY3OA":      "argon2id",
		"$argon2id$v=19$m=16,t=0,p=1$MTIzNDU2Nzg$MTIzNDU2NzgxMjM0NTY3OA":      "argon2id",
		"$argon2id$v=19$m=16,t=2,p=1$MTIz$MTIzNDU2NzgxMjM0NTY3OA":             "argon2id",
		"$argon2id$v=19$m=4194304,t=2,p=1$MTIzNDU2Nzg$MTIzNDU2NzgxMjM0NTY3OA": "MiB",
		"rqXexS6ZhobKA": "old crypt",
	} {
		_, err := parseHash(text)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", text, err, part)
		}
		if err != nil && len(text) > 8 && strings.Contains(err.Error(), text[6:]) {
			t.Errorf("the error repeats the hash: %v", err)
		}
	}
}

func FuzzHash(f *testing.F) {
	for _, seed := range []string{cheap, "$apr1$a$b", "$2y$10$x", "$6$rounds=1$a$b",
		"$argon2id$v=19$m=16,t=2,p=1$MTIzNDU2Nzg$MTIzNDU2NzgxMjM0NTY3OA", "{SSHA}x", "$5$rounds=$x$", "$1$$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHash(text)
		if err == nil && h.plain() && strings.ContainsAny(strings.TrimSpace(text + "x")[:1], "${") {
			t.Errorf("%q is taken for a password", text)
		}
	})
}
