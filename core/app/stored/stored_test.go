package stored_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dogwatch/dogwatch/core/app/stored"
	"github.com/dogwatch/dogwatch/core/store"
)

// TestTrustStoreOnlyReads: a command honours what Dogwatch trusts and records nothing.
func TestTrustStoreOnlyReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dogwatch.db")
	trust := stored.TrustStore(path)
	if _, known, err := trust.Checksum(t.Context(), "file"); known || err != nil {
		t.Errorf("without a database: %v %v", known, err)
	}
	if err := trust.Trust(t.Context(), "file", []byte("sum")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("it made a database: ", err)
	}
	s, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trust(t.Context(), "file", bytes.Repeat([]byte{7}, 32)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sum, known, err := trust.Checksum(t.Context(), "file")
	if err != nil || !known || !bytes.Equal(sum, bytes.Repeat([]byte{7}, 32)) {
		t.Errorf("%x %v %v", sum, known, err)
	}
	if _, known, err := trust.Checksum(t.Context(), "other"); known || err != nil {
		t.Errorf("of another: %v %v", known, err)
	}
}

// TestRecordsOnlyRead: a command knows what the installation has recorded of plugins, and records nothing.
func TestRecordsOnlyRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dogwatch.db")
	records := stored.Records(path)
	owners := func() (found string) {
		err := records.TypeOwners(t.Context(), func(typ, bundle, key string) { found += typ + " " + bundle + " " + key })
		if err != nil {
			t.Error(err)
		}
		return found
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(records.SetTypeOwner(t.Context(), "trigger.lamp", "lamp", ""))
	must(records.SavePluginDescription(t.Context(), []byte{1}, "1", []byte("{}")))
	if doc, err := records.PluginDescription(t.Context(), []byte{1}, "1"); doc != nil || err != nil || owners() != "" {
		t.Errorf("without a database: %q, %v, %q", doc, err, owners())
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("it made a database: ", err)
	}
	s, err := store.Open(context.Background(), path, store.Options{})
	must(err)
	must(s.SetTypeOwner(t.Context(), "trigger.lamp", "lamp", "RWQ"))
	must(s.SavePluginDescription(t.Context(), []byte{1}, "1", []byte("{}")))
	must(s.Close())
	must(records.SetTypeOwner(t.Context(), "trigger.lamp", "other", ""))
	doc, err := records.PluginDescription(t.Context(), []byte{1}, "1")
	if string(doc) != "{}" || err != nil || owners() != "trigger.lamp lamp RWQ" {
		t.Errorf("%q, %v, %q", doc, err, owners())
	}
}
