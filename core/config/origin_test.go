package config

import "testing"

func TestFrameAncestorsAreOrigins(t *testing.T) {
	for text, want := range map[string]bool{
		"https://dash.example.org": true, "http://nas:7575": true, "HTTPS://NAS": true, "http://192.168.1.5:80": true,
		"http://[fd00::1]:8123": true, "http://[fd00::1]": true, "https://*.example.org": true, "*": true,
		"dash.example.org": false, "https://": false, "https://nas/": false, "https://nas/dash": false,
		"https://nas:": false, "https://nas:99999": false, "https://nas:x": false, "ftp://nas": false,
		"https://*": false, "https://a.*.org": false, "https://a b": false, "https://nas; script-src *": false,
		"https://nas'": false, "'none'": false, "https://u@nas": false, "https://nas?x": false, "http://[nas]": false,
		"http://[fd00::1]x": false,
	} {
		c, err := Load(Input{
			Environ: []string{"HOME=/h", "DOGWATCH_CONFIG=/c.yaml"},
			Open:    memory(map[string]string{"c.yaml": "server: { frameancestors: [\"" + text + "\"] }\n"}),
		})
		if want && err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if kept := len(c.Server.Frames) == 1; kept != want {
			t.Errorf("%q: %v, %v", text, c.Server.Frames, c.Problems)
		}
		if !want && (len(c.Problems) != 1 || c.Problems[0].Key != "server.frameancestors") {
			t.Errorf("%q: problems %v", text, c.Problems)
		}
	}
}
