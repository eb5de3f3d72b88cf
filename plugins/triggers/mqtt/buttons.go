package mqtt

import (
	"context"
	"strings"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// decisionButton is one with which a user decides about the update of a container.
type decisionButton struct {
	// action is the payload that it publishes.
	action, label, icon string
}

var decisionButtons = []decisionButton{
	{trigger.ActionApprove, "approve the update", "mdi:check"},
	{trigger.ActionSkip, "skip this version", "mdi:skip-next"},
	{trigger.ActionSnooze, "snooze for a week", "mdi:sleep"},
}

// choiceTopic is the topic on which what is decided about a container is requested.
func choiceTopic(topic string) string { return topic + "/decide" }

// buttonTopic is what the entity of a button is called after.
func (d decisionButton) buttonTopic(topic string) string { return topic + "/" + d.action }

// buttons announces the buttons of a container; none while it has no update.
func (h *hass) buttons(c sdk.Container, topic string) []message {
	if !h.decide || !c.UpdateAvailable {
		return nil
	}
	name := c.DisplayName
	if name == "" {
		name = c.Name
	}
	var all []message
	for _, d := range decisionButtons {
		all = append(all, h.announce(button, d.buttonTopic(topic), discovery{
			Name: name + ": " + d.label, Icon: d.icon, CommandTopic: choiceTopic(topic), PayloadPress: d.action,
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
	for _, d := range decisionButtons {
		all = append(all, h.announcement(button, d.buttonTopic(topic)))
	}
	return all
}

// press is a button that was pressed.
type press struct{ topic, action string }

// listenDecisions subscribes to what users decide.
func (sub *subscription) listenDecisions(ctx context.Context, s *session) error {
	return s.subscribe(ctx, choiceTopic(sub.names.root+"/+/+"), func(topic string, payload []byte) {
		for _, d := range decisionButtons {
			if string(payload) != d.action {
				continue
			}
			select {
			case sub.presses <- press{strings.TrimSuffix(topic, choiceTopic("")), d.action}:
			default:
				sub.log.Warn("too much is decided at a time; one decision is ignored", "topic", topic)
			}
			return
		}
		sub.log.Warn("a decision is not understood: want approve, skip or snooze", "topic", topic)
	})
}

// decideAbout has the host store a decision. The host logs why it cannot be.
func (sub *subscription) decideAbout(ctx context.Context, p press) {
	id, known := sub.topics[p.topic]
	decider, can := sub.stream.(trigger.Decider)
	switch {
	case !known:
		sub.log.Warn("a decision is asked for on a topic of no container", "topic", p.topic)
	case !can:
		sub.log.Warn("this host takes no decisions", "topic", p.topic)
	default:
		sub.wait.Go(func() { _ = decider.Decide(ctx, id, p.action) })
	}
}
