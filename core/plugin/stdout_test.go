package plugin

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestGarbageOnStdout: what a plugin writes after its handshake is dropped, however much it
// is and without any end of a line, and never holds it up.
func TestGarbageOnStdout(t *testing.T) {
	w := ready(t, "x")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	must(t, w.run(ctx, "shout"))
	if strings.Contains(w.log.String(), "garbage") {
		t.Error("it is in the log")
	}
}

func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no end": "no end", "1|1|unix\n": "1|1|unix\n", "1|1|unix\nmore\nand more": "1|1|unix\n", "\nmore": "\n",
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader(text), "in bytes": iotest.OneByteReader(strings.NewReader(text))} {
			got, err := io.ReadAll(&firstLine{ReadCloser: io.NopCloser(r)})
			if err != nil || string(got) != want {
				t.Errorf("of %q, read %s: %q, %v", text, name, got, err)
			}
		}
	}
}
