package compose

import (
	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/internal/yamltext"
)

// span is the text of a scalar in its file, without quotation marks.
type span struct {
	from, to int
	quote    byte // ' or ", 0 for none
}

// locate returns where the text of a scalar stands; see yamltext.Locate.
func (d *document) locate(n *yaml.Node) (span, bool) {
	from, to, quote, ok := yamltext.Locate(d.data, n)
	return span{from, to, quote}, ok && n.Value != ""
}
