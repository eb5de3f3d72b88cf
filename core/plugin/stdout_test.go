package plugin

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestGarbageOnStdout: what a plugin writes after its handshake never holds it up, however much it
// is and without any end of a line; the log has the beginning.
func TestGarbageOnStdout(t *testing.T) {
	w := ready(t, "x")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	must(t, w.run(ctx, "shout"))
	eventually(t, "the log says that it is too much", func() bool {
		return strings.Contains(w.log.String(), "the plugin logs too much")
	})
	if n := strings.Count(w.log.String(), "garbage"); n == 0 || n > floodLines*maxPrinted/len("garbage") {
		t.Errorf("the log has %d words of it", n)
	}
}

func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no end": "no end", "1|1|unix\n": "1|1|unix\n", "1|1|unix\nmore\nand more": "1|1|unix\n", "\nmore": "\n",
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(text), "in bytes": iotest.OneByteReader(strings.NewReader(text)),
		} {
			var rest strings.Builder
			got, err := io.ReadAll(&firstLine{ReadCloser: io.NopCloser(r), rest: &rest})
			if err != nil || string(got) != want || want+rest.String() != text {
				t.Errorf("of %q, read %s: %q and %q, %v", text, name, got, rest.String(), err)
			}
		}
	}
}
