package logging

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/dogwatch/dogwatch/internal/redact"
	"github.com/dogwatch/dogwatch/internal/signedlinktoken"
	"github.com/dogwatch/dogwatch/internal/visible"
)

// Redactor blanks the tokens of signed links, and every secret it was given, as redact.Secrets does. It
// works on whole log entries: a secret that is cut in two is not found. All
// methods may be called concurrently; those of a nil *Redactor, but for Add,
// blank tokens only.
type Redactor struct {
	adding  sync.Mutex
	secrets atomic.Pointer[redact.Secrets]
}

// Add registers secrets. Those shorter than four bytes are ignored.
func (r *Redactor) Add(secrets ...string) {
	r.adding.Lock()
	defer r.adding.Unlock()
	all := r.known().With(secrets...)
	r.secrets.Store(&all)
}

// known returns the secrets that were added.
func (r *Redactor) known() redact.Secrets {
	if r == nil {
		return redact.Secrets{}
	}
	if known := r.secrets.Load(); known != nil {
		return *known
	}
	return redact.Secrets{}
}

// String returns what can be seen of a text with every secret blanked: for errors and other texts of
// foreign origin that leave the process other than by the log.
func (r *Redactor) String(text string) string {
	blanked := r.blank(text)
	if seen := visible.Text(blanked); seen != blanked {
		return r.blank(seen) // a secret may have been in it with something invisible between
	}
	return blanked
}

// blank returns text with every secret blanked.
func (r *Redactor) blank(text string) string {
	return r.known().Blank(signedlinktoken.Blank(text, redact.Blank))
}

// Writer returns a writer that passes on to w what it is given, with secrets
// blanked. Each Write must be a whole entry. It may be used concurrently if w may.
func (r *Redactor) Writer(w io.Writer) io.Writer { return &redacted{to: w, by: r} }

type redacted struct {
	to io.Writer
	by *Redactor
}

func (w *redacted) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.by.blank(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
