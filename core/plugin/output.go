package plugin

import (
	"bytes"

	"github.com/hashicorp/go-hclog"
)

// maxPrinted is how long a line may be that a plugin prints, in bytes; longer ones are split.
const maxPrinted = 4 << 10

// output logs what a plugin prints to its standard output or error output, which the SDK for
// Go sends by the connection (go-plugin's GRPCStdio), line by line.
type output struct {
	log  bridge
	rest []byte
}

func (o *output) Write(text []byte) (int, error) {
	o.rest = append(o.rest, text...)
	for {
		end := bytes.IndexByte(o.rest[:min(len(o.rest), maxPrinted)], '\n')
		next := end + 1
		if end < 0 {
			if len(o.rest) < maxPrinted {
				return len(text), nil
			}
			end, next = maxPrinted, maxPrinted
		}
		if line := bytes.TrimRight(o.rest[:end], "\r"); len(line) > 0 {
			o.log.emit(hclog.Info, string(bytes.ToValidUTF8(line, []byte("\uFFFD"))), nil)
		}
		o.rest = append(o.rest[:0], o.rest[next:]...)
	}
}
