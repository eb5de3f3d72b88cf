package containers

import (
	"fmt"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/web/webtest"
	"github.com/dogwatch/dogwatch/sdk"
)

// TestVersionsAreBounded for a container that gets a new one every hour.
func TestVersionsAreBounded(t *testing.T) {
	var events []event.Event
	for i := range versionEvents {
		c := webtest.Container("web", func(c *sdk.Container) { c.Image.Tag.Value = fmt.Sprint("1.0.", versionEvents-i) })
		events = append(events, event.Event{
			At: webtest.Noon.Add(-time.Duration(i) * time.Hour), Type: event.ContainerReplaced,
			Payload: event.Payload{Container: &c},
		})
	}
	now := webtest.Container("web", func(c *sdk.Container) { c.Image.Tag.Value = fmt.Sprint("1.0.", versionEvents) })
	v := versionLineOf(language.New().Named(language.English), events, &now, nil, webtest.Noon)
	if len(v.Lines) != versionLines || v.More != versionEvents-versionLines || len(v.SVG) > 20<<10 {
		t.Errorf("%d versions are shown, %d are not, and the picture is %d bytes", len(v.Lines), v.More, len(v.SVG))
	}
	if !v.Lines[0].Runs || v.Lines[0].Word != now.Image.Tag.Value {
		t.Errorf("the first line is %+v", v.Lines[0])
	}
}
