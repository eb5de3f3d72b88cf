package mock

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func TestConformance(t *testing.T) {
	triggertest.Run(t, Type(), triggertest.Case{
		Options: func(*testing.T) map[string]any { return map[string]any{"mock": "m"} },
		Skip:    []string{"cancel", "errors"}, // a log line neither waits nor fails
	})
}

func TestRunLogs(t *testing.T) {
	mock := plugintest.Trigger(t, Type(), nil)
	if err := mock.Run(t.Context(), triggertest.Request("nginx")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"mock":"mock"`, "New tag found for container nginx", "can be updated to tag 1.27.0",
		`"@level":"info"`, `"@module":"trigger.mock.main"`} {
		if !strings.Contains(mock.Log.String(), want) {
			t.Errorf("no %s in %s", want, mock.Log)
		}
	}
}
