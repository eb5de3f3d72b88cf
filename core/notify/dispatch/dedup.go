package dispatch

import (
	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/sdk"
)

// fingerprint is what deliveries dedupe by, beside their trigger and subject: the
// stored form of an update's key without the subject. Stores hold fingerprints of
// every earlier version, so what is hashed here must stay as it is: another value
// sends every message again. The store has each once (deliveries.go there).
func fingerprint(c sdk.Container) string {
	k := update.KeyOf(&c)
	from, to := k.From(), k.To()
	if c.Result == nil {
		k.ToTag, k.ToDigest = "", "" // where versions before the key had no value either
	}
	return hash(k.Kind, from, to, k.ToTag, k.ToDigest)
}
