package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestServiceWorker(t *testing.T) {
	status, body := get(t, withFakes(t, func(*fakeService) {}), "/sw.js")
	if status != http.StatusOK || strings.Contains(body, "{{") ||
		!strings.Contains(body, "/base/static/icon-192.") {
		t.Errorf("%d %s", status, body)
	}
}
