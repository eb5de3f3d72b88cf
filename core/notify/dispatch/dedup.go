package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/model/update"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
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

// idempotencyKey is the idempotency key, by which receivers dedupe. It is the same for each
// attempt, in whatever process, and for no other delivery: not of this store, nor
// of one that counts from 1 again, nor of another installation that notifies the
// same receiver. A delivery that is planned anew gets a new one.
func idempotencyKey(d delivery.Delivery) string {
	if d.Manual {
		return d.Fingerprint // which is random
	}
	return hash(d.Trigger, d.Subject, d.Fingerprint, fmt.Sprint(d.ID), fmt.Sprint(d.Event),
		fmt.Sprint(d.CreatedAt.UnixMilli()))
}

func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}
