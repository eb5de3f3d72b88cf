package dockerconfig

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk"
)

const secret = "recognisable-s3cret"

var _ oci.DefaultLogin = (*Store)(nil)

// newStore returns a store of a file with text, and what it logs.
func newStore(t *testing.T, text string) (*Store, *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), fileName)
	write(t, path, text)
	log := &bytes.Buffer{}
	s := New(path)
	s.LogTo(hclog.New(&hclog.LoggerOptions{Output: log}))
	return s, log
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get returns the credentials of a host as user:password.
func get(t *testing.T, s *Store, host string) string {
	t.Helper()
	c, err := s.Credentials(t.Context(), host)
	if err != nil {
		t.Errorf("%s: %v", host, err)
	}
	if c == (sdk.Credentials{}) {
		return ""
	}
	return c.Username + ":" + c.Password
}

func basic(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestAuthsOfHosts(t *testing.T) {
	s, log := newStore(t, fmt.Sprintf(`{"auths":{
		"https://index.docker.io/v1/":{"auth":%q},
		"ghcr.io":{"auth":%q,"email":"ann@example.test"},
		"https://quay.io/v2/":{"username":"ann","password":"quay"},
		"http://reg.lan:5000":{"auth":%q},
		"Team.AzureCR.io":{"auth":%q,"identitytoken":"identity"},
		"bearer.test":{"registrytoken":"shown"},
		"padded.test":{"auth":%q},
		"twice.test":{"auth":%q},"https://twice.test":{"auth":%q},
		"part.test/team":{"auth":%q},
		"empty.test":{}, "user.test":{"username":"ann"}, "colon.test":{"auth":%q}, "junk.test":{"auth":"%%%%"}
	},"HttpHeaders":{"User-Agent":"Docker"}}`, basic("ann:hub"), basic("ann:with:colons"), basic("ann:lan"),
		basic("00000000:x"), basic("ann:padded\x00\x00"),
		basic("ann:exact"), basic("ann:other"), basic("ann:part"), basic("nothing")))
	for host, want := range map[string]string{
		"docker.io": "ann:hub", "index.docker.io": "ann:hub", "registry-1.docker.io": "ann:hub", "Docker.IO": "ann:hub",
		"ghcr.io": "ann:with:colons", "quay.io": "ann:quay", "reg.lan:5000": "ann:lan",
		"team.azurecr.io": "<token>:identity", "bearer.test": "<registry token>:shown", "padded.test": "ann:padded",
		"twice.test": "ann:exact",
		// Look-alikes, and what is not the very host.
		"evilghcr.io": "", "ghcr.io.evil.test": "", "x.ghcr.io": "", "mydocker.io": "", "auth.docker.io": "",
		"hub.docker.com": "",
		"ghcr.io:443":    "", "reg.lan": "", "reg.lan:5001": "", "ghcr": "", "": "", "v1": "",
		// What is there and holds nothing.
		"part.test": "", "empty.test": "", "user.test": "",
	} {
		if got := get(t, s, host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	for host, want := range map[string]bool{
		"ghcr.io": true, "index.docker.io": true, "empty.test": false, "other.test": false, "junk.test": true,
	} {
		if got := s.Source(host); (got == s.path) != want || !want && got != "" {
			t.Errorf("the credentials for %s are from %q", host, got)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log)
	}
}

// An entry that cannot be read is an error for its host only.
func TestMalformedAuthIsUnauthorized(t *testing.T) {
	s, _ := newStore(t,
		fmt.Sprintf(`{"auths":{"colon.test":{"auth":%q},"https://junk.test/v1/":{"auth":%q},"ghcr.io":{"auth":%q}}}`,
			basic(secret), "%%"+secret, basic("ann:x")))
	for host, key := range map[string]string{"colon.test": "colon.test", "junk.test": "https://junk.test/v1/"} {
		_, err := s.Credentials(t.Context(), host)
		want := fmt.Sprintf("auths of %s: the entry %q holds no user and password", s.path, key)
		if !errors.Is(err, sdk.ErrUnauthorized) || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
	if got := get(t, s, "ghcr.io"); got != "ann:x" {
		t.Errorf("another host: %q", got)
	}
}

func TestHostOf(t *testing.T) {
	for key, want := range map[string]string{
		"https://index.docker.io/v1/": "docker.io", "docker.io": "docker.io", "https://registry-1.docker.io": "docker.io",
		"https://reg.test": "reg.test", "reg.test:5000/v2": "reg.test:5000", "HTTP://": "", "https://reg.test/": "reg.test",
		"https://reg.test/v3": "", "reg.test/team/app": "", "": "", "/v1/": "", "https://ann@reg.test": "", "reg.test?x": "",
	} {
		got, whole := hostOf(key)
		if !whole {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"auths":{"https://index.docker.io/v1/":{"auth":"YW5uOnM="}},"credHelpers":{"a":"b"},"credsStore":"x"}`,
		"docker.io")
	f.Add(`{"auths":[]}`, "ghcr.io")
	f.Fuzz(func(t *testing.T, text, host string) {
		path := filepath.Join(t.TempDir(), fileName)
		write(t, path, text)
		c, err := read(path)
		if err != nil && strings.Contains(text, secret) && strings.Contains(err.Error(), secret) {
			t.Errorf("holds the secret: %v", err)
		}
		entry, _, _ := find(c.Auths, canonical(host))
		if given, _ := entry.credentials(); (given.Username == "") != (given.Password == "") {
			t.Errorf("half of the credentials: %v", given)
		}
	})
}

// The file is read again when it has changed, may come late and may go.
func TestChangedFileIsReadAgain(t *testing.T) {
	folder := t.TempDir()
	s := New(folder)
	if got := get(t, s, "ghcr.io"); got != "" {
		t.Errorf("without a file: %q", got)
	}
	path := filepath.Join(folder, fileName)
	for _, password := range []string{"one", "second"} {
		write(t, path, fmt.Sprintf(`{"auths":{"ghcr.io":{"auth":%q}}}`, basic("ann:"+password)))
		for range 2 {
			if got := get(t, s, "ghcr.io"); got != "ann:"+password {
				t.Errorf("%q, want ann:%s", got, password)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, "ghcr.io"); got != "" {
		t.Errorf("after it went: %q", got)
	}
}

// A file that becomes unusable is a warning, once, without what is in it; of one
// that has always been the host warns.
func TestMalformedFileIsWarnedAbout(t *testing.T) {
	for text, want := range map[string]string{
		`{"auths":{"ghcr.io":{"auth":"` + secret + `"`: "is no JSON (at byte ",
		secret:                                "is no JSON (at byte 1)",
		"":                                    "is no JSON (at byte 0)",
		`{"auths":"` + secret + `"}`:          "auths must not be a JSON string",
		`{"credsStore":{"` + secret + `":1}}`: "credsStore must not be a JSON object",
		"[]":                                  "is not what Docker writes",
		strings.Repeat(" ", maxFile+1):        "has more than 1048576 bytes",
	} {
		s, log := newStore(t, text)
		if got := get(t, s, "ghcr.io"); got != "" || log.Len() > 0 {
			t.Errorf("%.40q gives %q at first, and logs %s", text, got, log)
		}
		write(t, s.path, `{"auths":{}}`)
		get(t, s, "ghcr.io")
		write(t, s.path, text)
		for range 3 {
			if got := get(t, s, "ghcr.io"); got != "" {
				t.Errorf("%.40q gives %q", text, got)
			}
		}
		said := log.String()
		if strings.Count(said, "\n") != 1 ||
			!strings.Contains(said, "[WARN]  dockerconfig: the credentials of docker login are not used: ") ||
			!strings.Contains(said, want) || strings.Contains(said, secret) {
			t.Errorf("%.40q: logged %q, want %q", text, said, want)
		}
	}
}

// helpers puts scripts in front of PATH. Each notes that it was called.
func helpers(t *testing.T, scripts map[string]string) (calls func() []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the helpers of the test are shell scripts")
	}
	folder := t.TempDir()
	notes := filepath.Join(folder, "notes")
	for name, script := range scripts {
		text := "#!/bin/sh\nserver=$(cat)\necho \"" + name + " $* $server\" >>" + notes + "\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(folder, helperPrefix+name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		text, err := os.ReadFile(notes)
		if err != nil {
			return nil
		}
		os.Remove(notes)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

const works = `printf '{"ServerURL":"%s","Username":"ann","Secret":"for %s"}' "$server" "$server"`

func TestHelpers(t *testing.T) {
	calls := helpers(t, map[string]string{
		"works": works,
		"empty": "echo credentials not found in native keychain; exit 1",
		"token": `echo '{"Username":"<token>","Secret":"identity"}'`,
	})
	s, log := newStore(t,
		fmt.Sprintf(`{"auths":{"https://ghcr.io":{},"plain.test":{"auth":%q},"https://index.docker.io/v1/":{}},
		"credHelpers":{"gcr.io":"works","token.test":"token","unknown.test":"empty"},"credsStore":"empty"}`,
			basic("ann:plain")))
	for _, test := range []struct{ host, want, call string }{
		{"gcr.io", "ann:for gcr.io", "works get gcr.io"},
		{"token.test", "<token>:identity", "token get token.test"},
		{"unknown.test", "", "empty get unknown.test"},
		{"plain.test", "ann:plain", "empty get plain.test"},
		{"ghcr.io", "", "empty get https://ghcr.io"},
		{"docker.io", "", "empty get https://index.docker.io/v1/"},
	} {
		for i := range 3 {
			if got := get(t, s, test.host); got != test.want {
				t.Errorf("%s: %q, want %q", test.host, got, test.want)
			}
			// What is cached is not fetched again.
			if got := strings.Join(calls(), "; "); i == 0 && got != test.call || i > 0 && got != "" {
				t.Errorf("%s, call %d: calls %q", test.host, i+1, got)
			}
		}
	}
	s, _ = newStore(t, `{"credsStore":"works"}`)
	if got := get(t, s, "registry-1.docker.io"); got != "ann:for https://index.docker.io/v1/" {
		t.Errorf("hub: %q", got)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log)
	}
}

// The helper of one host must work; that of all hosts is passed over with a
// warning when it does not, for public images need none.
func TestHelperErrors(t *testing.T) {
	calls := helpers(t, map[string]string{
		"fails":  "echo " + secret + "; exit 3",
		"babble": "echo '{\"Username\":\"" + secret + "\"'",
		"half":   `echo '{"Username":"ann","Secret":""}'`,
		"floods": "exec yes " + secret,
	})
	for helper, test := range map[string]struct {
		want  string
		calls int
	}{
		"fails":    {"docker-credential-fails failed: exit status 3", 2},
		"babble":   {"docker-credential-babble answered with no credentials", 2},
		"half":     {"docker-credential-half answered with no credentials", 2},
		"floods":   {"docker-credential-floods says far too much", 2},
		"missing":  {"there is no docker-credential-missing in PATH", 0},
		"../fails": {"the name of a credential helper has only a-z, 0-9 and -", 0},
		"FAILS":    {"the name of a credential helper has only a-z, 0-9 and -", 0},
	} {
		s, _ := newStore(t, fmt.Sprintf(`{"credHelpers":{"a.test":%q,"b.test":%q}}`, helper, helper))
		for range 2 {
			for _, host := range []string{"a.test", "b.test"} {
				_, err := s.Credentials(t.Context(), host)
				if !errors.Is(err, sdk.ErrUnauthorized) || !strings.Contains(err.Error(), test.want) ||
					!strings.HasPrefix(err.Error(), "credHelpers of /") || strings.Contains(err.Error(), secret) {
					t.Errorf("%s: error %v, want %q", helper, err, test.want)
				}
			}
			if got := len(calls()); got != test.calls {
				t.Errorf("%s: called %d times, want %d", helper, got, test.calls)
			}
			test.calls = 0 // it is left alone for a moment
		}

		s, log := newStore(t, fmt.Sprintf(`{"auths":{"a.test":{"auth":%q}},"credsStore":%q}`, basic("ann:kept"), helper))
		if got := get(t, s, "a.test") + " " + get(t, s, "b.test"); got != "ann:kept " {
			t.Errorf("%s: %q", helper, got)
		}
		calls()
		said := log.String()
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, test.want) ||
			!strings.Contains(said, "credsStore of /") || strings.Contains(said, secret) {
			t.Errorf("%s: logged %q", helper, said)
		}
	}
}

// A helper that hangs holds up a call until its context ends, and no longer.
func TestHelperTimeout(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	calls := helpers(t, map[string]string{"hangs": "touch " + started + "; exec sleep 1000"})
	s, _ := newStore(t, `{"credHelpers":{"a.test":"hangs"}}`)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := s.Credentials(ctx, "a.test"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	all.Wait()

	// Without such a context it is stopped, and left alone for all hosts.
	s, _ = newStore(t, `{"credHelpers":{"a.test":"hangs","b.test":"hangs"}}`)
	s.timeout = 50 * time.Millisecond
	for _, host := range []string{"a.test", "b.test", "a.test"} {
		if _, err := s.Credentials(t.Context(), host); !errors.Is(err, sdk.ErrUnavailable) ||
			!strings.Contains(err.Error(), "docker-credential-hangs gave no answer within 50ms") {
			t.Errorf("error %v", err)
		}
	}
	if got := calls(); len(got) != 2 {
		t.Errorf("called %q", got)
	}
}

// Credentials of a helper that a registry refuses are fetched again, unless they are fresh.
func TestRefusedCredentialsAreFetchedAgain(t *testing.T) {
	calls := helpers(t, map[string]string{"works": works})
	s, _ := newStore(t, `{"credsStore":"works"}`)
	used, err := s.Credentials(t.Context(), "a.test")
	if err != nil || len(calls()) != 1 {
		t.Fatal(err)
	}
	if s.Refused(used) || s.Refused(sdk.Credentials{Username: "other"}) {
		t.Error("fresh credentials are blamed")
	}
	s.mu.Lock()
	for q, l := range s.cache {
		l.at = l.at.Add(-minAge)
		s.cache[q] = l
	}
	s.mu.Unlock()
	if !s.Refused(used) {
		t.Error("old credentials are not blamed")
	}
	if get(t, s, "a.test"); len(calls()) != 1 {
		t.Error("the helper was not run again")
	}
}

// Hosts that others invent are not all remembered.
func TestCacheIsBounded(t *testing.T) {
	helpers(t, map[string]string{"works": works})
	s, _ := newStore(t, `{"credsStore":"works"}`)
	get(t, s, "a.test")
	for i := range maxCached {
		s.cache[cacheKey{"works", fmt.Sprint(i)}] = cached{at: time.Now()}
	}
	if get(t, s, "b.test"); len(s.cache) > maxCached {
		t.Errorf("%d hosts", len(s.cache))
	}
}
