package component

import (
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestAgentsAreWatchers beside the default one, configured or not, and as they join and leave.
func TestAgentsAreWatchers(t *testing.T) {
	host, err := plugin.New(plugin.Options{
		Builtins: []plugin.Builtin{
			{Name: "watcher", Types: testBundle().Types()},
			{Name: "agent", Types: []kind.Type{agent.Type().Type}, Remote: plugin.Elsewhere{}},
		},
		RunDirs: []string{t.TempDir()}, Trust: noTrust{}, Log: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	joined, allowed := []string{"nas", "pi"}, agent.Limits{}
	m := New(Options{
		Plugins: host, Log: hclog.NewNullLogger(), Secrets: func(...string) {}, Joined: func() []string { return joined },
		Limits: func(string) (agent.Limits, bool) { return allowed, true },
	})
	sections := []config.Component{
		section(kind.Watcher, agent.TypeName, "pi", map[string]string{"cron": "0 4 * * *", "update": "true", "logs": "true"}),
	}
	m.Load(sections)
	m.Finish()
	if err := m.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := func() (all []string) {
		for _, w := range m.Watchers() {
			all = append(all, w.ID())
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"agent.nas", "agent.pi", "engine.local"}) {
		t.Errorf("watchers are %v", got)
	}
	pi, _ := m.Watcher("agent.pi")
	if pi.Settings.Cron != "0 4 * * *" || pi.Default {
		t.Errorf("the configured one is %+v", pi.Settings)
	}
	if may, _ := pi.Updates(); !may || pi.UpdateRemedy() != "" || !pi.CanUpdate() {
		t.Error("one whose owner allows it cannot be updated")
	}
	allowed.ReadOnly = "there, set it"
	may, why := pi.Updates()
	if may || why != "the owner of pi allows no updates" || pi.UpdateRemedy() != allowed.ReadOnly || len(pi.UpdatePaste().Lines) > 0 {
		t.Errorf("one whose owner allows none: %t, %q, %q", may, why, pi.UpdateRemedy())
	}
	for name, want := range map[string]string{"pi": "", "nas": "DOGWATCH_WATCHER_AGENT_NAS_LOGS"} {
		w, _ := m.Watcher("agent." + name)
		for _, allowed.Logs = range []bool{false, true} {
			if variable, byOwner := w.LogsMissing(); !w.CanReadLogs() || variable != want || byOwner == allowed.Logs {
				t.Errorf("the owner of %s lets logs be read: %t; missing are %q, %t", name, allowed.Logs, variable, byOwner)
			}
		}
	}
	if _, err := pi.List(t.Context()); !plugin.NotStarted(err) {
		t.Errorf("without a link: %v", err)
	}
	joined = []string{"attic"}
	m.Apply(t.Context(), sections)
	if got := names(); !slices.Equal(got, []string{"agent.attic", "agent.pi", "engine.local"}) {
		t.Errorf("watchers are %v after others have joined", got)
	}
	if all := host.Bundles(); len(all) != 1 {
		t.Errorf("%d bundles have processes: %v", len(all), all)
	}
}
