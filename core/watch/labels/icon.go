package labels

import (
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/internal/lazyregexp"
	"github.com/dogwatch/dogwatch/internal/visible"
	"github.com/dogwatch/dogwatch/internal/webaddress"
)

// iconName is what icons are called: a set and a name, as mdi:docker, sh-nginx or logo.svg.
var iconName = lazyregexp.New(`^[0-9A-Za-z]([0-9A-Za-z._-]*:)?[0-9A-Za-z._-]*$`)

// icon returns the icon that a label names: by its name, or by the address of a picture.
func icon(text string) (string, error) {
	text = strings.TrimSpace(text)
	scheme, _, _ := strings.Cut(strings.ToLower(text), ":")
	switch {
	case text == "", iconName().MatchString(text) && scheme != "javascript" && scheme != "vbscript" && scheme != "data":
		return text, nil
	case webaddress.Of(text) != "":
		return webaddress.Of(text), nil
	}
	return "",
		fmt.Errorf("want the name of an icon such as mdi:docker, or the address of a picture, got %.40q", visible.Line(text))
}
