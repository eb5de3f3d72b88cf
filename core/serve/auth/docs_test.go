package auth

import (
	"os"
	"strings"
	"testing"
)

// TestDocsNameEveryOption: docs/authentication.md names every option, scheme and event there is.
func TestDocsNameEveryOption(t *testing.T) {
	page := documentation(t)
	names := []string{"server.trustedproxies", "server.metrics.auth", "auth.login", "auth.failed", "auth.logout",
		"auth.token.created", "auth.token.revoked", "POST /auth/remember", "GET /api/sessions"}
	for _, typ := range []string{"basic", "oidc"} {
		schema, known := Schema(typ)
		if !known {
			t.Fatalf("there is no type %s", typ)
		}
		for _, o := range schema {
			names = append(names, o.Name)
		}
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page lacks %s", name)
		}
	}
	for _, text := range append(Schemes(), tokenPrefix, callbackPath("{name}")[:11]) {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
}

func documentation(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/authentication.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
