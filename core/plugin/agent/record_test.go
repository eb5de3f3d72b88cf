package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestRecordAfterACrash: what was written whole is there, and what was not is written over.
func TestRecordAfterACrash(t *testing.T) {
	dir := t.TempDir()
	r, err := createRecord(dir, recordLine{Operation: &watcher.Operation{ID: "a1", Plan: watcher.Plan{Name: "web"}}})
	must(t, err)
	pull, stop := watcher.Step{ID: "pull", Code: watcher.StepPull}, watcher.Step{ID: "stop:web", Code: watcher.StepStop}
	must(t, r.write(recordLine{Begin: &pull}))
	must(t, r.write(recordLine{End: &watcher.StepRecord{Step: pull, Ended: true, Facts: map[string]string{"image": "i"}}}))
	must(t, r.write(recordLine{Begin: &stop}))
	must(t, r.file.Close())
	path := filepath.Join(dir, "a1"+recordSuffix)
	whole, err := os.ReadFile(path)
	must(t, err)
	for cut := len(whole) - 1; cut > len(whole)-40; cut -= 13 {
		must(t, os.WriteFile(path, whole[:cut], 0o600))
		r, err := openRecord(dir, "a1")
		must(t, err)
		if len(r.op.Steps) != 1 || !r.op.Steps[0].Ended || r.op.Steps[0].Facts["image"] != "i" || r.op.Plan.Name != "web" {
			t.Errorf("cut at %d: %+v", cut, r.op)
		}
		must(t, r.write(recordLine{Outcome: &watcher.Outcome{State: watcher.RolledBack}}))
		must(t, r.file.Close())
		again, err := openRecord(dir, "a1")
		must(t, err)
		if again.outcome == nil || again.outcome.State != watcher.RolledBack || again.file != nil {
			t.Errorf("cut at %d, and written to: %+v", cut, again)
		}
	}
	must(t, os.WriteFile(path, []byte("{}\nno json\n"), 0o600))
	if _, err := openRecord(dir, "a1"); err == nil {
		t.Error("a file that is none is read")
	}
}

// TestRecordsAreBounded: only the latest that have ended are kept.
func TestRecordsAreBounded(t *testing.T) {
	dir := t.TempDir()
	o, err := OpenOperations(dir, nil, hclog.NewNullLogger())
	must(t, err)
	t.Cleanup(o.Close)
	must(t, os.WriteFile(filepath.Join(o.dir, "0a"+recordSuffix+".123"), nil, 0o600)) // left by a crash
	for i := range keptRecords + 20 {
		_, err := o.settle(watcher.Operation{ID: fmt.Sprintf("id%03d", i)}, watcher.Outcome{State: watcher.Unchanged})
		must(t, err)
	}
	files, err := os.ReadDir(o.dir)
	must(t, err)
	if len(files) != keptRecords || files[0].Name() != "id020"+recordSuffix {
		t.Errorf("%d files, the first %s", len(files), files[0].Name())
	}
	ids, err := recordIDs(o.dir)
	must(t, err)
	if !slices.IsSorted(ids) {
		t.Error("they are in no order")
	}
}
