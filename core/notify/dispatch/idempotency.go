package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/dogwatch/dogwatch/core/notify/delivery"
)

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
