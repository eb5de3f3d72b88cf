package update

import (
	"slices"

	"github.com/dogwatch/dogwatch/sdk"
)

// Notified is an update that users were notified of by another program, before
// Dogwatch kept count: no delivery is planned for it. Such a program's record is
// looser than a Key.
type Notified struct {
	// Container is the id of the container, Subject its "local/nginx". Either may
	// have changed since: the container recreated, the watcher renamed.
	Container string
	Subject   string
	// Tag is what ran, and Remote the newer tag, or the newer digest of the same tag.
	Tag    string
	Remote string
}

// Covers reports whether it is the update that a container is offered now.
// Programs record the digest of an index or that of what the index holds for the
// container's platform: digests are the further ones of the image that is offered.
func (n Notified) Covers(c *sdk.Container, digests []string) bool {
	k := KeyOf(c)
	switch {
	case n.Container != c.ID && n.Subject != k.Subject, n.Tag != k.FromTag, n.Remote == "":
		return false
	case k.Kind == sdk.KindDigest && slices.Contains(digests, n.Remote):
		return true
	}
	return n.Remote == k.To()
}
