package config

import "testing"

func TestPluginLimits(t *testing.T) {
	p := Plugins{
		Limited: []string{"memory=512MB", "lamp:memory=1 GB", "lamp:processes=0", "cpu=0.5", "temp=128MiB",
			"lamp:memory=0", "nonsense"},
	}
	all := p.Limits()
	if l := all[""]; *l.Memory != 512<<20 || *l.CPU != 0.5 || *l.Temp != 128<<20 || l.Processes != nil {
		t.Errorf("of all: %+v", l)
	}
	if l := all["lamp"]; *l.Memory != 0 || *l.Processes != 0 || l.CPU != nil || len(all) != 2 {
		t.Errorf("of one: %+v", l)
	}
	for _, wrong := range []string{"", "memory", "memory=", "memory=256", "memory=-1MB", "memory=lots",
		"memory=99999999999GB", "disk=1GB", "processes=1.5", "processes=-1", "cpu=-1", "cpu=NaN", "lamp=memory=1MB"} {
		if _, _, err := parseLimit(wrong); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}
