package api

import (
	"testing"
)

func TestPluginRoutes(t *testing.T) {
	w := start(t, nil)
	all := w.get("/api/plugins").want(200).list()
	if len(all) != 1 || all[0]["name"] != "test" || all[0]["builtin"] != true || all[0]["state"] != "running" {
		t.Errorf("plugins: %v", all)
	}
	if types, _ := all[0]["types"].([]any); len(types) != 6 {
		t.Errorf("types: %v", all[0]["types"])
	}
	w.get("/api/plugins/gallery?newest=perhaps").fails(400, "newest: want true or false")
	w.do("POST", "/api/plugins/nope/restart", "").fails(404, "Plugin not found")
	w.do("POST", "/api/plugins/nope/trust", `{"sha256":"00"}`).fails(404, "Plugin not found")
	w.do("POST", "/api/plugins/nope/grant", `{"capability":"engine","granted":true}`).fails(404, "Plugin not found")
	w.do("POST", "/api/plugins/nope/grant", `{"capability":"engin","granted":true}`).fails(400, "capability: want one of")
	w.do("POST", "/api/plugins/nope/grant", `{"capability":"engine"}`).fails(400, "granted: want true")
}
