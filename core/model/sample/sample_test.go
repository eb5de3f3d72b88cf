package sample

import "testing"

// TestContainersDiffer: both containers of the sample differ in what identifies them.
func TestContainersDiffer(t *testing.T) {
	all := Containers()
	if len(all) != 2 || all[0].ID == all[1].ID || all[0].Name == all[1].Name {
		t.Errorf("%+v", all)
	}
	for _, c := range all {
		if !c.UpdateAvailable || c.Result == nil || c.Result.Tag != c.UpdateKind.RemoteValue || len(c.ID) != 64 {
			t.Errorf("%+v", c)
		}
	}
}
