package mqtt

import (
	"cmp"
	"context"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// choiceButton is one with which a user decides about the update of a container.
type choiceButton struct {
	// action is the payload that it publishes.
	action, label, icon string
}

var choiceButtons = []choiceButton{
	{trigger.ActionApprove, "approve the update", "mdi:check"},
	{trigger.ActionSkip, "skip this version", "mdi:skip-next"},
	{trigger.ActionSnooze, "snooze for a week", "mdi:sleep"},
}

// choiceTopic is the topic on which what is decided about a container is requested.
func choiceTopic(topic string) string { return topic + "/decide" }

// buttonTopic is what the entity of a button is called after.
func (b choiceButton) buttonTopic(topic string) string { return topic + "/" + b.action }

// buttons announces the buttons of a container; none while it has no update.
func (h *hass) buttons(c sdk.Container, topic string) []message {
	if !h.decide || !c.UpdateAvailable {
		return nil
	}
	name := cmp.Or(c.DisplayName, c.Name)
	var all []message
	for _, b := range choiceButtons {
		all = append(all, h.announce(button, b.buttonTopic(topic), discovery{
			Name: name + ": " + b.label, Icon: b.icon, CommandTopic: choiceTopic(topic), PayloadPress: b.action,
		}))
	}
	return all
}

// buttonAnnouncements are the topics of the discoveries of the buttons of a container.
func (h *hass) buttonAnnouncements(topic string) []string {
	if !h.decide || !h.discovery {
		return nil
	}
	var all []string
	for _, b := range choiceButtons {
		all = append(all, h.announcement(button, b.buttonTopic(topic)))
	}
	return all
}

// press is a button that was pressed.
type press struct{ topic, action string }

// listenChoices subscribes to what users decide.
func (sub *subscription) listenChoices(ctx context.Context, s *session) error {
	return s.subscribe(ctx, choiceTopic(sub.names.root+"/+/+"), func(topic string, payload []byte) {
		for _, b := range choiceButtons {
			if string(payload) != b.action {
				continue
			}
			select {
			case sub.presses <- press{strings.TrimSuffix(topic, choiceTopic("")), b.action}:
			default:
				sub.log.Warn("too much is decided at a time; one choice is ignored", "topic", topic)
			}
			return
		}
		sub.log.Warn("a choice is not understood: want approve, skip or snooze", "topic", topic)
	})
}

// decideAbout has the host store a choice. The host logs why it cannot be.
func (sub *subscription) decideAbout(ctx context.Context, p press) {
	id, known := sub.topics[p.topic]
	decider, can := sub.stream.(trigger.Decider)
	switch {
	case !known:
		sub.log.Warn("a choice is made on a topic of no container", "topic", p.topic)
	case !can:
		sub.log.Warn("this host stores no choices", "topic", p.topic)
	default:
		sub.wait.Go(func() { _ = decider.Decide(ctx, id, p.action) })
	}
}
