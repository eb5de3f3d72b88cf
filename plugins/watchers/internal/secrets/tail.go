package secrets

import "github.com/dogwatch/dogwatch/internal/lazyregexp"

// Tail keeps the end of what is written, as many bytes as its Limit.
type Tail struct {
	Limit int
	// Cut is whether something before it is missing.
	Cut  bool
	text []byte
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if surplus := len(t.text) - t.Limit; surplus > 0 {
		t.text, t.Cut = append([]byte(nil), t.text[surplus:]...), true
	}
	return len(p), nil
}

func (t *Tail) String() string { return string(t.text) }

var colors = lazyregexp.New(`\x1b\[[0-9;?]*[A-Za-z]`)

// WithoutColors returns text without escape sequences of a terminal (ECMA-48, CSI).
func WithoutColors(text string) string { return colors().ReplaceAllString(text, "") }
