package service

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

func TestLogEntries(t *testing.T) {
	recent := logging.NewRecent()
	log, err := logging.New(logging.Options{Output: io.Discard, Redactor: new(logging.Redactor), Recent: recent})
	if err != nil {
		t.Fatal(err)
	}
	log.Named("check").Info("found a secret that was not known: hunter2")
	s := &Service{opt: Options{
		Recent: recent, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
	}}
	entries, parts, err := s.LogEntries(auth.Actor{Identity: auth.Identity{Scope: auth.Write}}, logging.Filter{})
	if err != nil || len(entries) != 1 || entries[0].Message != "found a secret that was not known: ***" || len(parts) != 1 {
		t.Errorf("%+v, parts %v, error %v", entries, parts, err)
	}
	if _, _, err := s.LogEntries(auth.Actor{Identity: auth.Identity{Scope: auth.Read}}, logging.Filter{}); !errors.Is(err,
		ErrForbidden) {
		t.Errorf("who may only read gets the log: %v", err)
	}
}
