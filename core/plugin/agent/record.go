package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

const (
	// recordsFolder is in the folder of an agent, and has a file for each operation.
	recordsFolder = "operations"
	recordSuffix  = ".jsonl"
	// keptRecords is how many operations that have ended are kept, for a controller that was not told yet.
	keptRecords = 100
)

// operationID is what an id of an operation looks like, see watcher.Operation. It is the name of a file.
var operationID = regexp.MustCompile(`^[a-z0-9]{1,20}$`)

// recordLine is one line of the file of an operation. The first has the operation, without credentials and steps, and
// the last its outcome.
type recordLine struct {
	Operation *watcher.Operation  `json:"operation,omitempty"`
	Begin     *watcher.Step       `json:"begin,omitempty"`
	End       *watcher.StepRecord `json:"end,omitempty"`
	Outcome   *watcher.Outcome    `json:"outcome,omitempty"`
}

// record is what the file of an operation says, which is only written to at its end.
type record struct {
	op      watcher.Operation
	outcome *watcher.Outcome // nil while it is not known
	file    *os.File         // nil when nothing more is to be written
	size    int64
}

// createRecord makes the file of an operation with its first lines. It is there whole, or not at all.
func createRecord(dir string, lines ...recordLine) (r *record, err error) {
	r = &record{}
	var text []byte
	for _, l := range lines {
		r.add(l)
		line, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		text = append(append(text, line...), '\n')
	}
	path := filepath.Join(dir, r.op.ID+recordSuffix)
	temp, err := writeTemp(path, text)
	if err == nil {
		err = errors.Join(os.Rename(temp, path), syncFolder(dir))
	}
	if err == nil && r.outcome == nil {
		r.size = int64(len(text))
		r.file, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("keep an operation: %w", err)
	}
	return r, nil
}

// openRecord reads the file of an operation; the error is an fs.ErrNotExist when there is none. A last line that is not
// whole was never acted on, and is written over.
func openRecord(dir, id string) (*record, error) {
	path := filepath.Join(dir, id+recordSuffix)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &record{size: int64(bytes.LastIndexByte(text, '\n') + 1)}
	for line := range bytes.Lines(text[:r.size]) {
		var l recordLine
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		r.add(l)
	}
	if r.op.ID != id {
		return nil, fmt.Errorf("read %s: it has no operation of this name", path)
	}
	if r.outcome == nil {
		r.file, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	return r, err
}

func (r *record) add(l recordLine) {
	switch {
	case l.Operation != nil:
		r.op = *l.Operation
	case l.Begin != nil:
		r.op.Steps = append(r.op.Steps, watcher.StepRecord{Step: *l.Begin})
	case l.End != nil:
		for i := len(r.op.Steps) - 1; i >= 0; i-- {
			if r.op.Steps[i].ID == l.End.ID && !r.op.Steps[i].Ended {
				r.op.Steps[i] = *l.End
				return
			}
		}
	case l.Outcome != nil:
		r.outcome = l.Outcome
	}
}

// write adds a line, which is on the disk when it returns nil, and counts from then on.
func (r *record) write(l recordLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if _, err = r.file.WriteAt(text, r.size); err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep a step of an operation: %w", err), r.file.Truncate(r.size))
	}
	r.size += int64(len(text))
	r.add(l)
	return nil
}

// recordIDs returns the ids of the operations in a folder, the oldest first, and removes what a crash left of files.
func recordIDs(dir string) (ids []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range files {
		id, ended := strings.CutSuffix(f.Name(), recordSuffix)
		switch {
		case ended && operationID.MatchString(id):
			ids = append(ids, id)
		case strings.Contains(f.Name(), recordSuffix+"."):
			os.Remove(filepath.Join(dir, f.Name()))
		}
	}
	slices.Sort(ids)
	return ids, nil
}
