package store

import (
	"context"
	"encoding/json"

	"github.com/dogwatch/dogwatch/core/decide/candidate"
)

// Candidates returns the versions that the last checks found, by subject. What this
// version cannot read is left out: the next check finds it again.
func (s *Store) Candidates(ctx context.Context) (map[string]candidate.Found, error) {
	type row struct {
		subject string
		found   candidate.Found
		unknown bool
	}
	rows, err := queryRows(ctx, s, "read candidates", "SELECT subject, doc FROM candidates", nil,
		func(scan scanner) (r row, err error) {
			var doc []byte
			if err = scan(&r.subject, &doc); err == nil {
				r.unknown = json.Unmarshal(doc, &r.found) != nil
			}
			return r, err
		})
	all := make(map[string]candidate.Found, len(rows))
	for _, r := range rows {
		if !r.unknown {
			all[r.subject] = r.found
		}
	}
	return all, err
}

// Candidates returns the versions that the last checks found, by subject.
func (r *Reader) Candidates(ctx context.Context) (map[string]candidate.Found, error) {
	const version = 10
	if err := r.since(version, "candidates"); err != nil {
		return nil, err
	}
	return r.store.Candidates(ctx)
}

// putCandidates stores what a change says of candidates.
func (t tx) putCandidates(changed map[string][]byte) error {
	for subject, doc := range changed {
		if _, err := t.exec(`INSERT INTO candidates (subject, doc) VALUES (?, ?)
			ON CONFLICT (subject) DO UPDATE SET doc = excluded.doc`, subject, string(doc)); err != nil {
			return err
		}
	}
	return nil
}
