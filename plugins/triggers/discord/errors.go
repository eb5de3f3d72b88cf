package discord

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
)

// The codes of https://docs.discord.com/developers/topics/opcodes-and-status-codes#json that an option causes.
const (
	unknownChannel = 10003
	unknownWebhook = 10015
	invalidToken   = 50027
	forumNoThread  = 220001 // a web hook of a forum posts to a thread
)

// explain reads Discord's errors:
// https://docs.discord.com/developers/reference#error-messages and
// https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit.
func explain(a chat.Response) *chat.ServiceError {
	var response struct {
		Code       int                        `json:"code"`
		Message    string                     `json:"message"`
		RetryAfter float64                    `json:"retry_after"`
		Errors     map[string]json.RawMessage `json:"errors"`
	}
	if a.OK() || !a.Decode(&response) || response.Message == "" {
		return nil
	}
	r := &chat.ServiceError{Text: response.Message, Wait: chat.Seconds(response.RetryAfter)}
	switch response.Code {
	case unknownWebhook, invalidToken:
		r.Option = "url"
	case unknownChannel, forumNoThread:
		r.Option = "threadid"
	}
	for _, name := range slices.Sorted(maps.Keys(response.Errors)) {
		r.Text += "; " + name + ": " + strings.Join(messages(response.Errors[name]), ", ")
		if option := optionOf[name]; option != "" {
			r.Option = option
		}
	}
	return r
}

// optionOf are the fields of a message that come from an option.
var optionOf = map[string]string{"username": "botusername", "avatar_url": "avatarurl", "thread_id": "threadid"}

// messages are the texts in a tree of errors, whose leaves are
// {"_errors": [{"code": …, "message": …}]}.
func messages(tree json.RawMessage) []string {
	var leaf struct {
		Errors []struct {
			Message string `json:"message"`
		} `json:"_errors"`
	}
	var all []string
	if json.Unmarshal(tree, &leaf) == nil && len(leaf.Errors) > 0 {
		for _, e := range leaf.Errors {
			all = append(all, e.Message)
		}
		return all
	}
	var branches map[string]json.RawMessage
	if json.Unmarshal(tree, &branches) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(branches)) {
		all = append(all, messages(branches[name])...)
	}
	return all
}
