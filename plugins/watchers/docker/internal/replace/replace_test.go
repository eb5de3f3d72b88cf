package replace

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	oldID  = "aaaaaaaaaaaabbbbbbbbbbbbccccccccccccddddddddddddeeeeeeeeeeeeffff"
	volume = "1111111111112222222222223333333333334444444444445555555555556666"
	// unnamed is how a mount of that volume is described.
	unnamed = `{"Type":"volume","Name":"` + volume + `","Destination":"/data","RW":true}`
)

// parse makes a container of what an engine's inspect says besides the defaults.
func parse(t *testing.T, text string) Container {
	t.Helper()
	c := Container{Image: &Image{ID: "sha256:1", Platform: "linux/amd64", Tags: []string{"app:1"}}}
	for _, part := range []string{
		`{"Id":"` + oldID +
			`","Name":"/web","Image":"sha256:1","State":{"Running":true},"Config":{"Image":"app:1","Entrypoint":["/main"],"Cmd":["run"]},"HostConfig":{"NetworkMode":"none"}}`, text,
	} {
		if err := json.Unmarshal([]byte(part), &c.InspectResponse); err != nil {
			t.Fatal(err)
		}
	}
	defaults := `{"Env":["PATH=/bin","LEVEL=info"],"Entrypoint":["/main"],"Cmd":["run"],"User":"app","WorkingDir":"/app",
		"Labels":{"version":"1"},"ExposedPorts":{"80/tcp":{}},"Volumes":{"/data":{}},"StopSignal":"SIGINT",
		"Healthcheck":{"Test":["CMD","/check"],"Interval":30,"Timeout":3,"StartPeriod":4,"StartInterval":5,"Retries":6}}`
	if err := json.Unmarshal([]byte(defaults), &c.Image.Config); err != nil {
		t.Fatal(err)
	}
	return c.WithImage(c.Image)
}

func TestMakeKeepsOnlyWhatTheUserSet(t *testing.T) {
	for name, test := range map[string]struct{ inspect, config, host string }{
		"defaults": {`{"Config":{"Hostname":"aaaaaaaaaaaa","Env":["PATH=/bin","LEVEL=info"],"Entrypoint":["/main"],"Cmd":["run"],"User":"app","WorkingDir":"/app",
			"Labels":{"version":"1"},"ExposedPorts":{"80/tcp":{}},"Volumes":{"/data":{}},"StopSignal":"SIGINT"}}`, `{}`, `{}`},
		"env":     {`{"Config":{"Env":["LEVEL=debug","PATH=/bin"]}}`, `{"Env":["LEVEL=debug"]}`, `{}`},
		"command": {`{"Config":{"Entrypoint":["/main"],"Cmd":["other"]}}`, `{"Cmd":["other"]}`, `{}`},
		"entrypoint": {`{"Config":{"Entrypoint":["/own"],"Cmd":["run"]}}`,
			`{"Entrypoint":["/own"],"Cmd":["run"]}`, `{}`},
		"no entrypoint": {`{"Config":{"Entrypoint":null,"Cmd":["/main","run"]}}`,
			`{"Entrypoint":[""],"Cmd":["/main","run"]}`, `{}`},
		"same entrypoint, no cmd": {`{"Config":{"Entrypoint":["/main"],"Cmd":null}}`, `{"Entrypoint":["/main"]}`, `{}`},
		"hostname":                {`{"Config":{"Hostname":"own"}}`, `{"Hostname":"own"}`, `{}`},
		"labels": {`{"Config":{"Labels":{"version":"1","mine":"x"}}}`,
			`{"Labels":{"mine":"x"}}`, `{}`},
		"overridden label": {`{"Config":{"Labels":{"version":"mine"}}}`, `{"Labels":{"version":"mine"}}`, `{}`},
		"label of compose": {`{"Config":{"Labels":{"com.docker.compose.image":"sha256:1"}}}`,
			`{"Labels":{"com.docker.compose.image":"sha256:2"}}`, `{}`},
		"health check off": {`{"Config":{"Healthcheck":{"Test":["NONE"]}}}`, `{"Healthcheck":{"Test":["NONE"]}}`,
			`{}`},
		"health check as the image's": {
			`{"Config":{"Healthcheck":{"Test":["CMD","/check"],"Interval":30,"Timeout":3,"StartPeriod":4,"StartInterval":5,"Retries":6}}}`, `{}`, `{}`,
		},
		"test of the health check": {
			`{"Config":{"Healthcheck":{"Test":["CMD","/own"],"Interval":30,"Timeout":3,"StartPeriod":4,"StartInterval":5,"Retries":6}}}`,
			`{"Healthcheck":{"Test":["CMD","/own"]}}`, `{}`,
		},
		"interval of the health check": {
			`{"Config":{"Healthcheck":{"Test":["CMD","/check"],"Interval":31,"Timeout":3,"StartPeriod":4,"StartInterval":5,"Retries":6}}}`,
			`{"Healthcheck":{"Interval":31}}`, `{}`,
		},
		"rest of the health check": {
			`{"Config":{"Healthcheck":{"Test":["CMD","/check"],"Interval":30,"Timeout":1,"StartPeriod":1,"StartInterval":1,"Retries":1}}}`,
			`{"Healthcheck":{"Timeout":1,"StartPeriod":1,"StartInterval":1,"Retries":1}}`, `{}`,
		},
		"published port": {
			`{"Config":{"ExposedPorts":{"80/tcp":{}}},"HostConfig":{"PortBindings":{"80/tcp":[{"HostPort":"8080"}]}}}`,
			`{"ExposedPorts":{"80/tcp":{}}}`, `{"PortBindings":{"80/tcp":[{"HostPort":"8080"}]}}`,
		},
		"network of another": {`{"Config":{"Hostname":"vpn","ExposedPorts":{"80/tcp":{}}},"HostConfig":{"NetworkMode":"container:x"}}`, `{}`, `{"NetworkMode":"container:x"}`},
		"anonymous volume":   {`{"Mounts":[` + unnamed + `]}`, `{}`, `{"VolumesFrom":["` + oldID + `"]}`},
		"anonymous mount": {
			`{"HostConfig":{"Mounts":[{"Type":"volume","Target":"/data/"},{"Type":"bind","Source":"/a","Target":"/b"}]},"Mounts":[` + unnamed + `]}`, `{}`,
			`{"Mounts":[{"Type":"bind","Source":"/a","Target":"/b"}],"VolumesFrom":["` + oldID + `"]}`,
		},
		"anonymous volume beside a tmpfs": {
			`{"HostConfig":{"Mounts":[{"Type":"tmpfs","Target":"/t"},{"Type":"volume","Target":"/data/"}]},"Mounts":[` +
				unnamed + `,{"Type":"tmpfs","Destination":"/t"}]}`,
			`{}`, `{"Binds":["` + volume + `:/data"],"Mounts":[{"Type":"tmpfs","Target":"/t"}]}`,
		},
		"volume carried once": {`{"HostConfig":{"Binds":["` + volume +
			`:/data"]},"Mounts":[{"Type":"volume","Name":"` + volume + `","Destination":"/data","RW":true}]}`, `{}`,
			`{"Binds":["` + volume + `:/data"]}`},
		"named volume, not listed": {`{"Mounts":[{"Type":"volume","Name":"data","Destination":"/data","RW":true}]}`,
			`{}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := parse(t, test.inspect)
			before, _ := json.Marshal(c)
			spec := Make(c, Engine{}, "app:2", "sha256:2")
			want := parse(t, `{"Config":{"Entrypoint":null,"Cmd":null},"HostConfig":`+test.host+`}`)
			check(t, json.Unmarshal([]byte(test.config), want.Config))
			want.Config.Image = "app:2"
			// An empty collection is as good as none.
			got, _ := json.Marshal([]any{pruned(t, spec.Config), pruned(t, spec.Host)})
			wanted, _ := json.Marshal([]any{pruned(t, want.Config), pruned(t, want.HostConfig)})
			if string(got) != string(wanted) {
				t.Errorf("got  %s\nwant %s", got, wanted)
			}
			if after, _ := json.Marshal(c); string(after) != string(before) {
				t.Error("the old container was changed")
			}
		})
	}
}

// pruned is v without what is empty.
func pruned(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name, value := range all {
		if s, _ := json.Marshal(value); slices.Contains([]string{`null`, `""`, `[]`, `{}`, `false`, `0`}, string(s)) {
			delete(all, name)
		}
	}
	return all
}

func TestMakeConnectsEveryNetworkWithWhatTheUserSet(t *testing.T) {
	c := parse(t,
		`{"HostConfig":{"NetworkMode":"web"},"Config":{"MacAddress":"02:00:00:00:00:01"},"NetworkSettings":{"Networks":{
		"back":{"IPAMConfig":{},"Aliases":["db-client","aaaaaaaaaaaa"],"IPAddress":"10.0.0.2","MacAddress":"02:42:0a:00:00:02","NetworkID":"n1","Gateway":"10.0.0.1"},
		"web":{"IPAMConfig":{"IPv4Address":"10.1.0.9"},"Aliases":["aaaaaaaaaaaa"],"IPAddress":"10.1.0.9","MacAddress":"02:00:00:00:00:01","NetworkID":"n2"}}}}`)
	one := Make(c, Engine{}, "app:2", "")
	if len(one.Create) != 1 || len(one.Connect) != 1 || one.Create[0].Name != "web" || one.Connect[0].Name != "back" {
		t.Fatalf("create %v, connect %v", one.Create, one.Connect)
	}
	web, back := one.Create[0].Settings, one.Connect[0].Settings
	if web.IPAMConfig == nil || web.IPAMConfig.IPv4Address != "10.1.0.9" || len(web.Aliases) != 0 ||
		web.IPAddress != "" || web.MacAddress != "" {
		t.Errorf("web: %+v", web)
	}
	if back.IPAMConfig != nil || !slices.Equal(back.Aliases, []string{"db-client"}) || back.IPAddress != "" ||
		back.MacAddress != "" || back.Gateway != "" {
		t.Errorf("back: %+v", back)
	}
	//lint:ignore SA1019 what old engines know
	if mac := one.Config.MacAddress; mac != "02:00:00:00:00:01" {
		t.Errorf("MAC %q", mac)
	}
	many := Make(c, Engine{ManyNetworks: true}, "app:2", "")
	if len(many.Create) != 2 || len(many.Connect) != 0 || many.Create[0].Settings.MacAddress != "02:00:00:00:00:01" ||
		many.Create[1].Settings.MacAddress != "" {
		t.Errorf("create %v, connect %v", many.Create, many.Connect)
	}
}

// TestMakeKeepsTheMACOfEveryNetwork tests engines that take one with each network, but
// tell only of the first whether a user has set it.
func TestMakeKeepsTheMACOfEveryNetwork(t *testing.T) {
	for name, test := range map[string]struct{ endpoint, want string }{
		"set":                  {`{"IPAddress":"10.0.0.2","MacAddress":"52:54:00:12:34:56"}`, "52:54:00:12:34:56"},
		"set, not started yet": {`{"MacAddress":"52:54:00:12:34:56"}`, "52:54:00:12:34:56"},
		"made of the address":  {`{"IPAddress":"10.0.0.2","MacAddress":"02:42:0a:00:00:02"}`, ""},
		"of another address":   {`{"IPAddress":"10.0.0.2","MacAddress":"02:42:0a:00:00:03"}`, "02:42:0a:00:00:03"},
		"none":                 {`{"IPAddress":"10.0.0.2","MacAddress":""}`, ""},
		"no endpoint":          {`null`, ""},
	} {
		c := parse(t, `{"HostConfig":{"NetworkMode":"web"},"NetworkSettings":{"Networks":{
			"web":{"IPAddress":"10.1.0.9","MacAddress":"92:00:00:00:00:01"},"back":`+test.endpoint+`}}}`)
		spec := Make(c, Engine{ManyNetworks: true}, "app:2", "")
		if web, back := spec.Create[0].Settings.MacAddress, spec.Create[1].Settings.MacAddress; web != "" ||
			back != test.want {
			t.Errorf("%s: web has %q, back %q, want %q", name, web, back, test.want)
		}
		for _, e := range append(Make(c, Engine{}, "app:2", "").Connect, Make(c, Engine{}, "app:2", "").Create...) {
			if e.Settings.MacAddress != "" {
				t.Errorf("%s: an engine that takes none is sent %q for %s", name, e.Settings.MacAddress, e.Name)
			}
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func request() watcher.UpdateRequest {
	return watcher.UpdateRequest{ContainerID: oldID, Image: watcher.TargetImage{Reference: "app:2", Digest: "sha256:2"}}
}

func codes(reasons []watcher.Reason) (all []string) {
	for _, r := range reasons {
		all = append(all, r.Code)
	}
	return all
}

func TestPlanBlocks(t *testing.T) {
	for code, inspect := range map[string]string{
		BlockSwarm:    `{"Config":{"Labels":{"com.docker.swarm.service.id":"x"}}}`,
		BlockKube:     `{"Config":{"Labels":{"io.kubernetes.pod.name":"x"}}}`,
		BlockRemove:   `{"HostConfig":{"AutoRemove":true}}`,
		BlockData:     `{"SizeRw":1048576}`,
		BlockDetached: `{"HostConfig":{"NetworkMode":"web"},"NetworkSettings":{"Networks":{"other":{}}}}`,
		BlockNetwork:  `{"HostConfig":{"NetworkMode":"gone"},"NetworkSettings":{"Networks":{"gone":{}}}}`,
		"":            `{"SizeRw":1048575}`,
	} {
		p := Plan(Facts{Target: parse(t, inspect), Networks: []string{"other"}}, request())
		if got := strings.Join(codes(p.Blocks), ","); got != code {
			t.Errorf("got %q, want %q", got, code)
		}
	}
	acknowledged := request()
	acknowledged.Rules.Acknowledged = []string{BlockData}
	if p := Plan(Facts{Target: parse(t, `{"SizeRw":1048576}`)}, acknowledged); len(p.Blocks) != 0 {
		t.Errorf("acknowledged: %v", p.Blocks)
	}
	for code, facts := range map[string]Facts{
		BlockReadOnly: {Engine: Engine{ReadOnly: "no"}},
		BlockSelf:     {Self: oldID, NoHelper: "it has no image"},
	} {
		facts.Target = parse(t, `{}`)
		if got := codes(Plan(facts, request()).Blocks); !slices.Equal(got, []string{code}) {
			t.Errorf("got %v, want %s", got, code)
		}
	}
	// Dogwatch runs in one of two containers, and does not know in which.
	beside := parse(t, `{"Id":"d1","Name":"/dogwatch","HostConfig":{"NetworkMode":"container:`+oldID+`"}}`)
	third := parse(t, `{"Id":"d2","Name":"/third"}`)
	suspects := []string{oldID, "d1"}
	for target, all := range map[string][]Container{
		"vpn":      {parse(t, `{}`), beside, third},
		"dogwatch": {beside, parse(t, `{}`), third},
		"third":    {third, parse(t, `{}`), beside},
	} {
		p := Plan(Facts{Target: all[0], Others: all[1:], Suspects: suspects}, request())
		if got := slices.Contains(codes(p.Blocks), BlockSelf); got != (target != "third") {
			t.Errorf("%s: %v", target, p.Blocks)
		}
	}
	other := request()
	other.Image.Digest = ""
	other.Image.Config = &sdk.ImageConfig{}
	other.Image.Config.Platform.OS, other.Image.Config.Platform.Architecture = "linux", "arm64"
	if got := codes(Plan(Facts{Target: parse(t, `{}`)}, other).Blocks); !slices.Equal(got,
		[]string{BlockImage, BlockPlatform}) {
		t.Errorf("got %v", got)
	}
}

func TestPlanWarnsOfAProbeOutOfReach(t *testing.T) {
	on := func(more string) string {
		return `{"HostConfig":{"NetworkMode":"front"` + more + `},"NetworkSettings":{"Networks":{"front":{},"back":{}}}}`
	}
	self := func(mode, network string) string {
		return `{"Id":"self","Name":"/dogwatch","HostConfig":{"NetworkMode":"` + mode +
			`"},"NetworkSettings":{"Networks":{"` + network + `":{}}}}`
	}
	for name, test := range map[string]struct {
		target, self string
		gate         watcher.HealthGate
		want         bool
	}{
		"apart":          {on(""), self("own", "own"), watcher.HealthGate{TCP: ":5432"}, true},
		"apart, http":    {on(""), self("own", "own"), watcher.HealthGate{HTTP: "http://:8080/x"}, true},
		"own address":    {on(""), self("own", "own"), watcher.HealthGate{HTTP: "http://web:8080/x"}, false},
		"command":        {on(""), self("own", "own"), watcher.HealthGate{Command: []string{"x"}}, false},
		"shared":         {on(""), self("back", "back"), watcher.HealthGate{TCP: ":5432"}, false},
		"on the machine": {on(""), self("host", "host"), watcher.HealthGate{TCP: ":5432"}, false},
		"published": {on(`,"PortBindings":{"5432/tcp":[{"HostPort":"5432"}]}`), self("own", "own"), watcher.HealthGate{
			TCP: ":5432",
		}, false},
		"other published": {on(`,"PortBindings":{"5433/tcp":[{"HostPort":"5432"}]}`), self("own", "own"), watcher.HealthGate{
			TCP: ":5432",
		}, true},
	} {
		req := request()
		req.Rules.Health = test.gate
		p := Plan(Facts{Target: parse(t, test.target), Others: []Container{parse(t, test.self)}, Self: "self"}, req)
		if got := slices.Contains(codes(p.Warnings), WarnProbe); got != test.want {
			t.Errorf("%s: warnings %v", name, p.Warnings)
		}
	}
}

func TestPlanOrdersTheStepsOfDependents(t *testing.T) {
	vpn := parse(t, `{"Id":"d1","Name":"/client","HostConfig":{"NetworkMode":"container:`+oldID+`"}}`)
	second := parse(t,
		`{"Id":"d2","Name":"/second","HostConfig":{"PidMode":"container:client"},"State":{"Running":true,"Paused":true}}`)
	p := Plan(Facts{Target: parse(t, `{}`), Others: []Container{second, vpn}}, request())
	var got []string
	for _, s := range p.Steps {
		got = append(got, s.ID)
	}
	want := "pull rename:web create:web stop:second stop:client stop:web start:web health:web rename:client create:client start:client health:client " +
		"rename:second create:second start:second health:second pause:second remove:second remove:client remove:web"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if status := Statuses(p); status["web"] != Running || status["second"] != Paused || len(status) != 3 {
		t.Errorf("statuses %v", status)
	}
	if again := Plan(Facts{Target: parse(t, `{}`), Others: []Container{second, vpn}}, request()); again.State != p.State {
		t.Error("the same facts have another state")
	}
	if other := Plan(Facts{Target: parse(t, `{"Config":{"Env":["A=b"]}}`), Others: []Container{second, vpn}},
		request()); other.State == p.State {
		t.Error("other facts have the same state")
	}
}

// TestMakeTakesVolumesFromOthers that exist, and keeps what those had that do not.
func TestMakeTakesVolumesFromOthers(t *testing.T) {
	const donor, gone = "dddddddddddd0000", "cccccccccccc0000"
	for name, test := range map[string]struct {
		from   string // VolumesFrom
		donors string // the mounts of the donor
		labels string
		want   []string
	}{
		"given by another":  {`"` + donor + `:ro"`, unnamed, ``, []string{donor + ":ro"}},
		"by name":           {`"donor"`, unnamed, ``, []string{"donor"}},
		"besides":           {`"donor"`, ``, ``, []string{oldID, "donor"}},
		"the donor is gone": {`"` + gone + `","donor"`, ``, ``, []string{oldID, "donor"}},
		"of the predecessor": {`"` + donor + `"`, unnamed, `"` + PredecessorsLabel + `":"` + donor + `"`,
			[]string{oldID}},
		"of another volume": {`"donor"`, strings.ReplaceAll(unnamed, "1111", "2222"), ``, []string{oldID, "donor"}},
		"at another path": {`"donor"`, strings.ReplaceAll(unnamed, "/data", "/other"), ``,
			[]string{oldID, "donor"}},
		"none but its own one": {``, ``, ``, []string{oldID}},
	} {
		c := parse(t, `{"Mounts":[`+unnamed+`],
			"Config":{"Labels":{`+test.labels+`}},"HostConfig":{"VolumesFrom":[`+test.from+`]}}`)
		c = c.WithImage(c.Image).Among([]Container{parse(t, `{"Id":"`+donor+`","Name":"/donor","Mounts":[`+
			test.donors+`]}`)})
		if got := Make(c, Engine{}, "app:2", "").Host.VolumesFrom; !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	user := parse(t, `{"Id":"d1","Name":"/user","HostConfig":{"VolumesFrom":["other","`+oldID+`:ro"]}}`)
	p := Plan(Facts{Target: parse(t, `{}`), Others: []Container{user}}, request())
	if len(p.Dependents) != 1 || p.Dependents[0].Relation != "volumes_from" {
		t.Errorf("dependents %+v", p.Dependents)
	}
	spec := Make(user, Engine{}, "app:1", "")
	spec.Follow(map[string]string{oldID: "new"})
	if !slices.Equal(spec.Host.VolumesFrom, []string{"other", "new:ro"}) {
		t.Errorf("volumes from %v", spec.Host.VolumesFrom)
	}
}

// TestPlanIgnoresTheOrderOfLists, in which engines tell them differently each time.
func TestPlanIgnoresTheOrderOfLists(t *testing.T) {
	inspect := func(one, two string) string {
		text := `{"Config":{"Env":[E]},"HostConfig":{"NetworkMode":"front","Links":[E],"CapAdd":[E],"Binds":[E],
			"Mounts":[{"Type":"bind","Source":"/1","Target":FIRST},{"Type":"bind","Source":"/1","Target":SECOND}]},
			"NetworkSettings":{"Networks":{"front":{"Aliases":[E],"Links":[E]}}}}`
		return strings.NewReplacer("[E]", `["`+one+`","`+two+`"]`, "FIRST", `"`+one+`"`, "SECOND",
			`"`+two+`"`).Replace(text)
	}
	state := func(one, two string) string { return Plan(Facts{Target: parse(t, inspect(one, two))}, request()).State }
	if state("/a:/web/a", "/b:/web/b") != state("/b:/web/b", "/a:/web/a") {
		t.Error("another order is another state")
	}
	if state("/a:/web/a", "/b:/web/b") == state("/a:/web/a", "/c:/web/c") {
		t.Error("another list is the same state")
	}
}

// TestPlanStopsFirstWhatRestarts: engines rename no container that is about to be started again.
func TestPlanStopsFirstWhatRestarts(t *testing.T) {
	running := Plan(Facts{Target: parse(t, `{"State":{"Running":true},"RestartCount":3}`)}, request())
	for name, inspect := range map[string]string{
		"restarting":                  `{"State":{"Running":true,"Restarting":true},"RestartCount":3}`,
		"running between two crashes": `{"State":{"Running":true},"RestartCount":3}`,
	} {
		p := Plan(Facts{Target: parse(t, inspect)}, request())
		var got []string
		for _, s := range p.Steps {
			got = append(got, s.ID)
		}
		want := "pull stop:web rename:web create:web start:web health:web remove:web"
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got  %s\nwant %s", name, strings.Join(got, " "), want)
		}
		if p.State != running.State || Statuses(p)["web"] != Running {
			t.Errorf("%s: another state than between two crashes: %s", name, p.State)
		}
	}
	policy := `{"HostConfig":{"RestartPolicy":{"Name":"on-failure","MaximumRetryCount":3}}}`
	p := Plan(Facts{Target: parse(t, policy)}, request())
	if got := RestartPolicies(p)["web"]; got.Name != "on-failure" || got.MaximumRetryCount != 3 {
		t.Errorf("policy %+v", got)
	}
}

func TestPlanShowsNoSecrets(t *testing.T) {
	p := Plan(Facts{
		Target: parse(t, `{"Config":{"Env":["TOKEN=hunter2"],"Labels":{"auth":"hunter2"},"Cmd":["--password","hunter2"]}}`),
	}, request())
	text, err := json.Marshal(p)
	if err != nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "env TOKEN") {
		t.Errorf("%v %s", err, text)
	}
}
