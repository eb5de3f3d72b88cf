package service

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/sdk"
)

// redacted has the decision about each text of an event's payload: true is
// redacted, false stays. A container is decided as a whole but for two texts: it is
// what clients read at /api/containers, too.
var redacted = map[string]bool{
	"Container.Error.Message":         true,
	"Container.Check.PostponedReason": true,
	"Container.Check.Reason":          true,
	"Container":                       false,
	"From":                            false,
	"Aspect":                          false,
	"Levels":                          false,
	"Choice.Action":                   false,
	"Choice.Version":                  false,
	"Choice.Actor":                    false,
	"Check.Watcher":                   false,
	"Check.SharedWith":                false,
	"Check.Updates":                   false,
	"Check.Found":                     false,
	"Check.Took":                      false,
	"Check.Error":                     true,
	"Watcher.Error":                   true,
	"Delivery.Trigger":                false,
	"Delivery.Title":                  true,
	"Delivery.Error":                  true,
	"Plugin.State":                    false,
	"Plugin.Error":                    true,
	"Plugin.From":                     false,
	"Plugin.To":                       false,
	"Plugin.Digest":                   false,
	"Login.Trigger":                   false,
	"Login.Method":                    false,
	"Login.Address":                   false,
	"Login.Token":                     false,
	"Login.Scope":                     false,
	"Login.By":                        false,
	"Login.Error":                     true,
	"Setting.From":                    false,
	"Setting.To":                      false,
	"Setting.User":                    false,
	"Setting.Address":                 false,
	"Operation.ID":                    false, "Operation.Kind": false, "Operation.From": false, "Operation.To": false,
	"Operation.Actor": false, "Operation.Trigger": false, "Operation.By": false, "Operation.Downtime": false,
	"Operation.Step": true, "Operation.Code": false, "Operation.Error": true, "Operation.Log": true,
	"Scan.Actor": false, "Scan.Version": false, "Scan.Summary": false, "Scan.Error": true,
}

// decided returns the decision about a text, or about what contains it.
func decided(path string) (redact, known bool) {
	for at := path; ; {
		if redact, known = redacted[at]; known {
			return redact, true
		}
		i := strings.LastIndex(at, ".")
		if i < 0 || at[:i] != "Container" && !strings.HasPrefix(at, "Container.") {
			return false, false
		}
		at = at[:i]
	}
}

// texts calls do with every text in a value, and makes what pointers and lists lack.
func texts(v reflect.Value, path string, do func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		do(path, v)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		texts(v.Elem(), path, do)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			texts(v.Index(i), path, do)
		}
	case reflect.Map:
		if v.Len() == 0 {
			value := reflect.New(v.Type().Elem()).Elem()
			value.SetString(secret)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(secret), value)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[sdk.Time]() || v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				texts(v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), do)
			}
		}
	}
}

// TestRedactEventDecidesEveryText fails for a text that was added to event.Payload
// without a decision.
func TestRedactEventDecidesEveryText(t *testing.T) {
	s, _ := newService(t, nil)
	e := event.Event{Type: event.CheckFailed, Subject: secret, Run: secret}
	seen := map[string]bool{}
	texts(reflect.ValueOf(&e.Payload), "", func(path string, v reflect.Value) {
		seen[path] = true
		if _, known := decided(path); !known {
			t.Errorf("the text %s of event.Payload is neither redacted nor known to stay: decide about it in RedactEvent and in this test", path)
		}
		v.SetString("of " + secret)
	})
	for path := range redacted {
		if !seen[path] && path != "Container" {
			t.Errorf("event.Payload has no text %s", path)
		}
	}
	before := fmt.Sprintf("%+v %+v %+v", *e.Container, *e.Container.Error, *e.Check)
	shown := s.RedactEvent(e)
	texts(reflect.ValueOf(&shown.Payload), "", func(path string, v reflect.Value) {
		want := "of " + secret
		if redact, _ := decided(path); redact {
			want = "of ***"
		}
		if got := v.String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	})
	if shown.Subject != secret || shown.Run != secret || shown.Type != e.Type {
		t.Errorf("names are torn: %q %q", shown.Subject, shown.Run)
	}
	if after := fmt.Sprintf("%+v %+v %+v", *e.Container, *e.Container.Error, *e.Check); after != before {
		t.Error("the event that was passed in has changed")
	}
}

func TestSafeErrorKeepsItsKind(t *testing.T) {
	s, _ := newService(t, nil)
	err := s.safe(fmt.Errorf("log in with %s: %w", secret, sdk.ErrUnauthorized))
	if err.Error() != "log in with ***: "+sdk.ErrUnauthorized.Error() || !errors.Is(err, sdk.ErrUnauthorized) {
		t.Errorf("%v", err)
	}
	if s.safe(nil) != nil {
		t.Error("no error becomes one")
	}
}
