package artifact_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

// TestCompareVersions: the order of Semantic Versioning 2.0.0, section 11.4.4, and around it.
func TestCompareVersions(t *testing.T) {
	ascending := []string{
		"0", "0.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.0.0.1", "v1.0.1", "1.2", "1.10.0", "2", "10.0.0", "2026.01.15", "99999999999999999999.0",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			order, comparable := artifact.CompareVersions(a, b)
			if !comparable || math.Signbit(float64(order)) != (i < j) || (order == 0) != (i == j) {
				t.Errorf("%s compared to %s: %d, %t", a, b, order, comparable)
			}
		}
	}
	for _, same := range [][2]string{{"1", "1.0.0"}, {"v1.2.0", "1.2"}, {"1.0.0+5", "1.0.0+6"}, {"1.01", "1.1"}} {
		if order, comparable := artifact.CompareVersions(same[0], same[1]); order != 0 || !comparable {
			t.Errorf("%v: %d, %t", same, order, comparable)
		}
	}
	for _, none := range []string{"", "nightly", "1.0 ", "1..0", "1.0-", "-1", "１.0"} {
		if _, comparable := artifact.CompareVersions("1.0.0", none); comparable {
			t.Errorf("%q is a version", none)
		}
	}
}

func TestCheckTag(t *testing.T) {
	for tag, versions := range map[string][]string{
		"1.2.3": {"1.2.3", "v1.2.3"}, "v1.2.3": {"1.2.3"}, "1.2": {"1.2.3", "1.2.0", "1.2"}, "1": {"1.9.9"}, "1.2.0": {"1.2"},
		"1.0.0-5": {"1.0.0+5", "1.0.0-5"}, "latest": {"1.2.3", "0.0.1", ""}, "": {"1.0.0"}, "stable": {"nightly"},
	} {
		for _, version := range versions {
			if err := artifact.CheckTag(tag, version); err != nil {
				t.Errorf("%s under %s: %v", version, tag, err)
			}
		}
	}
	for tag, versions := range map[string][]string{
		"2.0.0": {"1.0.0", "2.0.0-rc.1", "2.0.1", "20.0.0", "", "nightly"}, "1.2": {"1.20.0", "1.1.9", "11.2"},
		"1": {"10.0.0", "0.1"},
	} {
		for _, version := range versions {
			if err := artifact.CheckTag(tag, version); err == nil {
				t.Errorf("%s under %s is accepted", version, tag)
			}
		}
	}
}

// annotate replaces annotations of the manifest under a tag.
func (s *served) annotate(t *testing.T, tag string, by map[string]string) {
	t.Helper()
	at := "http://" + s.host + "/v2/me/lamp/manifests/" + tag
	resp, err := http.Get(at)
	must(t, err)
	defer resp.Body.Close()
	var m map[string]any
	must(t, json.NewDecoder(resp.Body).Decode(&m))
	for key, value := range by {
		m["annotations"].(map[string]any)[key] = value
	}
	text, err := json.Marshal(m)
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, at, strings.NewReader(string(text)))
	must(t, err)
	req.Header.Set("Content-Type", resp.Header.Get("Content-Type"))
	put, err := http.DefaultClient.Do(req)
	must(t, err)
	put.Body.Close()
	if put.StatusCode/100 != 2 {
		t.Fatalf("put the manifest: %s", put.Status)
	}
}

// TestFetchRefusesReplays: what was signed as one version does not pass for another one, however
// what is not signed is changed, and what says no version is not accepted at all.
func TestFetchRefusesReplays(t *testing.T) {
	const (
		version   = "org.opencontainers.image.version"
		signature = "io.github.dogwatch.plugin.minisig"
	)
	_, private, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := private.MarshalText()
	must(t, err)
	signer, err := artifact.NewSigner(text, "")
	must(t, err)
	sign := func(comment string) string {
		r := minisign.NewReader(strings.NewReader(script))
		_, err := io.Copy(io.Discard, r)
		must(t, err)
		return string(r.SignWithComments(private, comment, ""))
	}
	forged := strings.Replace(sign("dogwatch-plugin lamp 1.0.0 "), "lamp 1.0.0", "lamp 2.0.0", 1)
	for name, c := range map[string]struct {
		annotations map[string]string
		says        string
	}{
		"as it is":               {nil, "the tag says version 2.0.0, and the plugin is version 1.0.0"},
		"with another version":   {map[string]string{version: "2.0.0"}, `its signature is for "lamp 1.0.0 "`},
		"with a changed comment": {map[string]string{version: "2.0.0", signature: forged}, "does not hold"},
		"of content alone": {map[string]string{version: "2.0.0", signature: sign("timestamp:1")},
			"says neither which plugin nor which version"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServed(t)
			first := s.push(t, "1.0.0", signer, lamp(write(t, script)))
			s.push(t, "2.0.0", signer, lamp(write(t, script)))
			if c.annotations != nil {
				s.annotate(t, "2.0.0", c.annotations)
			}
			for _, key := range []artifact.Key{signer.Key(), {}} {
				_, _, err := s.fetch(t, artifact.Fetcher{}, ":2.0.0", artifact.Want{Key: key})
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("by the key %s: %v, want %q", key, err, c.says)
				}
			}
			source, err := artifact.ParseSource(s.host + "/me/lamp:1.0.0")
			must(t, err)
			f := artifact.Fetcher{Logins: plain{}, Platform: amd64}
			accept := func(artifact.Fetched) error { return nil }
			newer, err := f.LookForNewer(t.Context(), artifact.Have{
				Source: source, Digest: first, Key: signer.Key(), Accept: accept,
			})
			if err != nil || newer.Ref != "" || !strings.Contains(newer.Refused, c.says) {
				t.Errorf("it is offered: %+v, %v", newer, err)
			}
		})
	}
}

// TestSignedStatement: what is signed is read as it was written, whatever the version looks like.
func TestSignedStatement(t *testing.T) {
	signer, _ := newSigner(t)
	for i, version := range []string{"1.0.0", "1.0.0 beta", "2026 01"} {
		for _, platform := range []string{"", "linux/amd64"} {
			s := newServed(t)
			b := versioned(lamp(write(t, script)), version)
			b.Platform = platform
			s.push(t, "latest", signer, b)
			got, _, err := s.fetch(t, artifact.Fetcher{}, ":latest", artifact.Want{})
			if want := (artifact.Statement{Name: "lamp", Version: version}); err != nil || got.Signed != want {
				t.Errorf("%d: %+v, %v", i, got.Signed, err)
			}
		}
	}
}
