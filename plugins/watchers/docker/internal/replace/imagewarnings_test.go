package replace

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// A plan warns of what the image changes only where the container leaves it to the image.
func TestPlanImageWarnings(t *testing.T) {
	next := sdk.ImageConfig{
		User: "other", Env: []string{"PATH=/bin"}, Entrypoint: []string{"/main"}, Cmd: []string{"serve"}, WorkingDir: "/app",
		Labels: map[string]string{"version": "2"}, Volumes: []string{"/data", "/cache"}, StopSignal: "SIGINT",
		Healthcheck: []string{"CMD", "/check"}, Size: 1 << 30,
	}
	const asImage = `"Entrypoint":["/main"],"User":"app","WorkingDir":"/app","Env":["PATH=/bin","LEVEL=info"]`
	for name, test := range map[string]struct{ inspect, codes string }{
		"left to the image": {`{"Config":{` + asImage + `,"Cmd":["run"]}}`,
			"image.user image.volume image.port image.command image.env"},
		"own user": {`{"Config":{` + strings.Replace(asImage, `"app"`, `"1000"`, 1) + `,"Cmd":["run"]}}`,
			"image.volume image.port image.command image.env"},
		"own command": {`{"Config":{` + asImage + `,"Cmd":["mine"]}}`, "image.user image.volume image.port image.env"},
		"own variable": {`{"Config":{` + strings.Replace(asImage, "info", "debug", 1) + `,"Cmd":["run"]}}`,
			"image.user image.volume image.port image.command"},
		"own mount": {`{"Config":{` + asImage +
			`,"Cmd":["run"]},"Mounts":[{"Type":"volume","Name":"c","Destination":"/cache","RW":true}]}`,
			"image.user image.port image.command image.env"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan(Facts{Target: parse(t, test.inspect)}, watcher.UpdateRequest{
				Image: watcher.TargetImage{Reference: "app:2", Config: &next},
			})
			var codes []string
			for _, w := range p.Warnings {
				if strings.HasPrefix(w.Code, "image.") {
					codes = append(codes, w.Code)
				}
			}
			if got := strings.Join(codes, " "); got != test.codes {
				t.Errorf("got %s, want %s", got, test.codes)
			}
		})
	}
}
