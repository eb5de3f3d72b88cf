package replace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestPlacedAreFilesPutThereBeforeTheFirstStart(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		when, err := time.Parse(time.RFC3339Nano, "2026-01-02T10:00:"+text+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const never = "0001-01-01T00:00:00Z"
	for name, test := range map[string]struct {
		started, finished string
		file              File
		want              bool
	}{
		"before the first start": {"2026-01-02T10:00:05.3Z", never, File{"/app.conf", 20, at("03")}, true},
		"rounded down":           {"2026-01-02T10:00:05.3Z", never, File{"/app.conf", 20, at("01")}, true},
		"rounded up":             {"2026-01-02T10:00:01.7Z", never, File{"/app.conf", 20, at("02")}, true},
		"never started":          {never, never, File{"/app.conf", 20, at("59")}, true},
		"of a program":           {"2026-01-02T10:00:05.3Z", never, File{"/pid", 20, at("03.25")}, false},
		"after the first start":  {"2026-01-02T10:00:05.3Z", never, File{"/unpacked", 20, at("07")}, false},
		"unpacked with its old times": {"2026-01-02T10:00:05.3Z", never,
			File{"/unpacked", 20, at("03").AddDate(-1, 0, 0)}, false},
		"empty, as mount points are": {"2026-01-02T10:00:05.3Z", never, File{"/mounted", 0, at("03")}, false},
		"data":                       {"2026-01-02T10:00:05.3Z", never, File{"/data", ignoredBytes, at("03")}, false},
		"restarted": {"2026-01-05T10:00:00.3Z", "2026-01-05T09:59:00.1Z",
			File{"/app.conf", 20, at("03")}, true},
		"restarted, later": {"2026-01-05T10:00:00.3Z", "2026-01-05T09:59:00.1Z",
			File{"/unpacked", 20, at("03").Add(time.Hour)}, false},
	} {
		c := parse(t,
			fmt.Sprintf(`{"Created":"2026-01-02T10:00:01.4Z","State":{"StartedAt":%q,"FinishedAt":%q}}`, test.started,
				test.finished))
		c.Files.List = []File{test.file}
		if got := len(Placed(c)) == 1; got != test.want {
			t.Errorf("%s: placed is %t", name, got)
		}
		if shown := slices.ContainsFunc(Plan(Facts{Target: c}, request()).Carried, func(s watcher.Setting) bool {
			return s.Name == "file "+test.file.Path
		}); shown != test.want {
			t.Errorf("%s: the plan shows it: %t", name, shown)
		}
	}
}

func TestPlanNamesTheLargestFiles(t *testing.T) {
	c := parse(t, `{"SizeRw":5242880}`)
	c.Files.List = []File{{Path: "/pid"}, {Path: "/a", Size: 700}, {Path: "/db", Size: 4 << 20}, {
		Path: "/b", Size: 20,
	}, {Path: "/log", Size: 512 << 10}}
	blocks := Plan(Facts{Target: c}, request()).Blocks
	if want := "lost (/db 4.0 MiB, /log 512.0 KiB, /a 700 bytes and 1 smaller ones): move"; len(blocks) != 1 ||
		!strings.Contains(blocks[0].Text, want) {
		t.Errorf("got %v, want one with %q", blocks, want)
	}
}

func TestPlanBlocksWhereFilesAreHidden(t *testing.T) {
	c := parse(t, `{"SizeRw":20}`)
	known := Plan(Facts{Target: c}, request())
	c.Files.Hidden = "forbidden"
	p := Plan(Facts{Target: c}, request())
	if len(p.Blocks) != 1 || p.Blocks[0].Code != BlockFiles || !p.Blocks[0].Acknowledge ||
		!strings.Contains(p.Blocks[0].Text, "forbidden") {
		t.Errorf("blocks %v", p.Blocks)
	}
	if p.State == known.State {
		t.Error("a plan that knew the files may be applied where they are not known any more")
	}
	accepted := request()
	accepted.Rules.Acknowledged = []string{BlockFiles}
	if p := Plan(Facts{Target: c}, accepted); len(p.Blocks) > 0 {
		t.Errorf("acknowledged: %v", p.Blocks)
	}
}
