package components

import (
	"context"

	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
)

// unsent are the errors of messages that triggers have yet to send, by the id of the trigger.
func (h *Handler) unsent(ctx context.Context) (map[string]string, error) {
	pending, err := h.service.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending})
	if err != nil {
		return nil, err
	}
	errors := map[string]string{}
	for _, d := range pending {
		if d.Error != "" {
			errors[d.Trigger] = d.Error
		}
	}
	return errors, nil
}

// sendingState is the state of a trigger: one that is ready does not send while a message of it could not be sent.
func sendingState(ready words.State, unsent string) words.State {
	if unsent != "" && ready.Class == "ok" {
		return words.State{Word: phrase.New("Not sending"), Class: "failed"}
	}
	return ready
}
