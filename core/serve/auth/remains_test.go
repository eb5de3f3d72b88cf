package auth

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

const (
	base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	cryptDigits  = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// someHashes returns a hash of each form, with random salts and sums.
func someHashes(r *rand.Rand) []string {
	text := func(digits string, length int) string {
		var b strings.Builder
		for range length {
			b.WriteByte(digits[r.IntN(len(digits))])
		}
		return b.String()
	}
	return []string{
		"$argon2id$v=19$m=65536,t=3,p=4$" + text(base64Digits, 22) + "$" + text(base64Digits, 43),
		"$argon2id$v=19$m=19456,t=2,p=1$" + text(base64Digits, 22) + "$" + text(base64Digits, 43),
		"$2y$10$" + text(cryptDigits, 53), "$2a$05$" + text(cryptDigits, 53), "$2b$12$" + text(cryptDigits, 53),
		"$apr1$" + text(cryptDigits, 8) + "$" + text(cryptDigits, 22),
		"$1$" + text(cryptDigits, 8) + "$" + text(cryptDigits, 22),
		"$5$" + text(cryptDigits, 16) + "$" + text(cryptDigits, 43),
		"$6$" + text(cryptDigits, 16) + "$" + text(cryptDigits, 86),
		"$5$rounds=10000$" + text(cryptDigits, 16) + "$" + text(cryptDigits, 43),
		"$6$rounds=10000$" + text(cryptDigits, 16) + "$" + text(cryptDigits, 86),
	}
}

// name is the name of a variable after its $, which Docker Compose and shells replace.
var name = regexp.MustCompile(`\$[_a-zA-Z][_a-zA-Z0-9]*`)

// TestRemainsOfHashesAreNoPasswords: what Docker Compose 2 leaves of a hash whose $ are not doubled. It was compared
// with github.com/compose-spec/compose-go/v2/template v2.1.0, which leaves $ before anything but a name.
func TestRemainsOfHashesAreNoPasswords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		for _, hash := range someHashes(r) {
			left := name.ReplaceAllString(hash, "")
			if left == "" || left == hash { // "" is refused as missing
				continue
			}
			refused(t, hash, left)
		}
	}
}

// TestRemainsInShellsAreNoPasswords: those of hashes in double quotes. A shell takes $1 for a variable as well; a salt
// that begins with a digit leaves what could be any password.
func TestRemainsInShellsAreNoPasswords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	variable := regexp.MustCompile(`\$([_a-zA-Z][_a-zA-Z0-9]*|[0-9])`)
	digit := regexp.MustCompile(`\$[0-9]`)
	for range 500 {
		for _, hash := range someHashes(r) {
			left := variable.ReplaceAllString(hash, "")
			if left == "" || !strings.HasPrefix(hash, "$2") && digit.MatchString(hash[2:]) {
				continue
			}
			refused(t, hash, left)
		}
	}
}

// TestStartsOfHashesAreNoPasswords: hashes that were cut before, at or after one of their $.
func TestStartsOfHashesAreNoPasswords(t *testing.T) {
	for _, hash := range someHashes(rand.New(rand.NewPCG(1, 2))) {
		for at := range hash {
			if hash[at] == '$' {
				refused(t, hash, hash[:at+1])
				if at > 0 {
					refused(t, hash, hash[:at])
				}
			}
		}
	}
}

func refused(t *testing.T, hash, left string) {
	t.Helper()
	_, err := parseHash(left)
	if err == nil || !strings.Contains(err.Error(), "each $") || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%q, of %q: %v", left, hash, err)
	}
	if err != nil && len(left) > 8 && strings.Contains(err.Error(), left) {
		t.Errorf("the error repeats it: %v", err)
	}
}

// TestRemainsInDockerCompose has the program itself, of version 1 or 2, leave what it leaves.
func TestRemainsInDockerCompose(t *testing.T) {
	compose, err := exec.LookPath("docker-compose")
	if err != nil {
		plugintest.Skip(t, "compose", err)
	}
	file := filepath.Join(t.TempDir(), "compose.json")
	environment := func(hashes ...string) (left string, ran bool) {
		services := map[string]any{}
		for i, hash := range hashes {
			services[fmt.Sprint("s", i)] = map[string]any{"image": "a", "environment": []string{"HASH=" + hash}}
		}
		doc, err := json.Marshal(map[string]any{"version": "3", "services": services})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, doc, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), compose, "-f", file, "config").Output()
		return string(out), err == nil // else it refuses the file
	}
	hashes := []string{
		"$apr1$lcnrb7ca$Kpeabt2iBzn2ccg5aaYaP/", "$apr1$lcnrb7ca$Kpeabt2iBzn2c.g5a.YaP.",
		"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
	}
	for _, hash := range hashes {
		out, ran := environment(hash)
		_, left, has := strings.Cut(out, "HASH: ")
		left, _, _ = strings.Cut(left, "\n")
		if !ran || !has {
			t.Fatalf("%q: %s", hash, out)
		}
		refused(t, hash, strings.Trim(left, `'"`))
	}
	hashes = append(hashes, someHashes(rand.New(rand.NewPCG(3, 4)))...)
	doubled := make([]string, len(hashes))
	for i, hash := range hashes {
		doubled[i] = strings.ReplaceAll(hash, "$", "$$")
	}
	out, ran := environment(doubled...)
	for _, hash := range hashes {
		if !ran || !strings.Contains(strings.ReplaceAll(out, "$$", "$"), hash) {
			t.Errorf("with each $ twice, %q is not in %s", hash, out)
		}
	}
}

// TestPasswordsAreNoRemains: what people choose as passwords stays one.
func TestPasswordsAreNoRemains(t *testing.T) {
	for _, password := range []string{
		"correct-horse-battery", "hunter2", "P@ssw0rd!", "a1b2c3", "1234", "=secret=", "p4ss.word", "y0ghurt",
		"letmein/now", "x=1", "/my secret/", ".net-core",
		"b4/two!", "=1=2", "v=19", "argon2id", "apr1", "a1/b-c", "12.34/56",
	} {
		if h, err := parseHash(password); err != nil || !h.plain() || !h.matches(password) {
			t.Errorf("%q: %v", password, err)
		}
	}
}

// TestRemainsOfAHashLetNobodyIn: the login is refused, and its key and the remedy are said.
func TestRemainsOfAHashLetNobodyIn(t *testing.T) {
	for _, left := range []string{"=19=65536,t=3,p=4", "/", ".g5a.YaP.", "$apr1", "$1cnrb7ca.g5a.YaP.", ""} {
		w := start(t, "DOGWATCH_AUTH_BASIC_JOHN_USER=john", "DOGWATCH_AUTH_BASIC_JOHN_HASH="+left)
		if got := w.basic("john", left); w.failed() == nil && got != "nothing" {
			t.Errorf("%q gets in: %s", left, got)
		}
		if w.auth.Open() {
			t.Errorf("%q opens the server", left)
		}
		said := false
		for _, p := range w.auth.Problems() {
			said = said ||
				strings.HasPrefix(p.String(), "auth.basic.john.hash: ") &&
					strings.Contains(p.String(), "write each $") && strings.Contains(p.String(), "twice")
		}
		if !said {
			t.Errorf("%q: %v", left, w.auth.Problems())
		}
	}
}
