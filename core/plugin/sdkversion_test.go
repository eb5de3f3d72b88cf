package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
)

func TestCompareSDK(t *testing.T) {
	for _, c := range []struct {
		built, own string
		want       sdkRelation
	}{
		{"2.1.0", "2.1.0", sameSDK},
		{"2.1.9", "2.1.0", sameSDK},
		{"2.0.0", "2.1.0", sameSDK},
		{"2.2.0", "2.1.0", newerSDK},
		{"3.0.0", "2.1.0", newerSDK},
		{"2.10.0", "2.9.0", newerSDK},
		{"1.9.9", "2.1.0", olderSDK},
		{"", "2.1.0", sameSDK},
		{"python 0.1", "2.1.0", sameSDK},
		{"2.1", "2.1.0", sameSDK},
		{"99999999999999999999.0.0", "2.1.0", sameSDK},
		{"3.0.0\n\x1b[31m", "2.1.0", sameSDK},
	} {
		if got := compareSDK(c.built, c.own); got != c.want {
			t.Errorf("%q with %q: got %d, want %d", c.built, c.own, got, c.want)
		}
	}
	if note := SDKNote(sdk.Version); note != nil {
		t.Errorf("the SDK of today has the note %q", note)
	}
}

// TestOtherProtocolIsRejected starts scripts that shake hands with another version of
// the protocol than ours: the sentence says which side is to be updated.
func TestOtherProtocolIsRejected(t *testing.T) {
	dir := shortDir(t)
	for name, version := range map[string]string{"new": "2", "old": "0"} {
		script := "#!/bin/sh\necho '1|" + version + "|unix|/nowhere|grpc|'\nexec sleep 10\n"
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	opt := testOptions(t)
	opt.Dir = dir
	h := newHost(t, opt)
	must(t, h.Discover(t.Context()))
	for name, want := range map[string]string{
		"new": "plugin new speaks version 2 of the plugin protocol and this Dogwatch version 1: it is too new: update Dogwatch",
		"old": "plugin old speaks version 0 of the plugin protocol and this Dogwatch version 1: it is too old: install a newer version",
	} {
		s, known := h.Bundle(name)
		if !known {
			t.Fatalf("there is no plugin %s", name)
		}
		if st := s.Status(); st.State != Rejected || !strings.Contains(st.Error, want) || st.Restarts != 0 {
			t.Errorf("%s: got %s, %q after %d restarts; want %s", name, st.State, st.Error, st.Restarts, want)
		}
	}
}
