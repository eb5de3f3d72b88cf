package service

import (
	"github.com/dogwatch/dogwatch/core/config/logging"
	"github.com/dogwatch/dogwatch/core/serve/auth"
)

// LogEntries returns those of the last entries of the log that a filter chooses, the newest first, and the parts of
// the program that any of them is of. The actor has to be allowed to write: the log names users and addresses.
func (s *Service) LogEntries(actor auth.Actor, f logging.Filter) (entries []logging.Entry, parts []string, err error) {
	if err := allow(actor, auth.Write, "read the log"); err != nil || s.opt.Recent == nil {
		return []logging.Entry{}, nil, err
	}
	entries, parts = s.opt.Recent.Entries(f)
	for i := range entries {
		// A secret may have become known since the entry was written.
		entries[i].Message = s.opt.Redact(entries[i].Message)
	}
	return entries, parts, nil
}
