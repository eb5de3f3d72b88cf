package kafka

import (
	"cmp"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/message"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// idempotencyHeader names the header whose value stays the same when a record is written again.
const idempotencyHeader = "idempotency-key"

// records are what is written: the JSON of each container, or of an event.
func records(req trigger.Request) ([]*kgo.Record, error) {
	if req.Event != nil {
		value, err := httpclient.EncodeJSON(message.EventOf(req))
		r := &kgo.Record{Key: []byte(cmp.Or(req.Event.Watcher, req.Event.Plugin)), Value: value}
		if req.Delivery != "" {
			r.Headers = []kgo.RecordHeader{{Key: idempotencyHeader, Value: []byte(req.Delivery)}}
		}
		return []*kgo.Record{r}, err
	}
	all := make([]*kgo.Record, len(req.Containers))
	for i, c := range req.Containers {
		value, err := httpclient.EncodeJSON(c)
		if err != nil {
			return nil, err
		}
		all[i] = &kgo.Record{Key: key(c), Value: value}
		if req.Delivery != "" {
			all[i].Headers = []kgo.RecordHeader{{Key: idempotencyHeader, Value: []byte(req.Delivery + "/" + c.ID)}}
		}
	}
	return all, nil
}

// key names a container, also after an update has recreated it: its records
// stay in order, and a compacted topic keeps the last of each.
func key(c sdk.Container) []byte {
	if c.Watcher == "" && c.Name == "" {
		return nil
	}
	return []byte(c.Watcher + "/" + c.Name)
}
