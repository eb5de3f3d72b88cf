package slack

import (
	"cmp"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/plugins/triggers/internal/chat"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// explainAPI reads the response of chat.postMessage, in which "ok" says
// whether it succeeded and not the status.
func explainAPI(a chat.Response) *chat.ServiceError {
	var response struct {
		OK     bool   `json:"ok"`
		Error  string `json:"error"`
		Needed string `json:"needed"`
	}
	if !a.Decode(&response) || !response.OK && response.Error == "" {
		if a.OK() {
			return &chat.ServiceError{Text: "the answer is not that of Slack", Option: "apiurl"}
		}
		return nil
	}
	if response.OK {
		return nil
	}
	r := explainWord(a, response.Error, "token")
	if response.Needed != "" {
		r.Text += " (needs " + response.Needed + ")"
	}
	return r
}

// maxWord is longer than any word in which a web hook refuses.
const maxWord = 40

// explainHook reads the response of a web hook, which is one word: "ok" or what is wrong.
func explainHook(a chat.Response) *chat.ServiceError {
	word := strings.TrimSpace(string(a.Body))
	if word == "" || len(word) > maxWord || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return nil
	}
	switch r := explainWord(a, word, "url"); {
	case a.OK() && r.Option == "" && r.Kind == nil && r.Wait == 0:
		return nil // "ok", or what another service with such hooks says instead
	case r.Option == "channel":
		r.Option = "url" // the channel is the hook's
		return r
	default:
		return r
	}
}

// explainWord explains a word of Slack; credentials is the option that holds them.
// https://docs.slack.dev/reference/methods/chat.postMessage#errors
// https://docs.slack.dev/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks
func explainWord(a chat.Response, word, credentials string) *chat.ServiceError {
	r := &chat.ServiceError{Text: word}
	switch word {
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "missing_scope",
		"no_permission", "not_allowed_token_type", "access_denied", "ekm_access_denied", "enterprise_is_restricted",
		"team_access_not_granted", "org_login_required", "invalid_token", "action_prohibited":
		r.Kind, r.Option = sdk.ErrUnauthorized, credentials
	case "no_service", "no_service_id", "no_active_hooks", "no_team", "team_disabled", "user_not_found":
		r.Option = credentials
	case "not_in_channel":
		r.Text += ": invite the bot to the channel"
		r.Option = "channel"
	case "channel_not_found", "is_archived", "channel_is_archived", "restricted_action",
		"restricted_action_read_only_channel",
		"restricted_action_thread_only_channel", "restricted_action_non_threadable_channel",
		"posting_to_general_channel_denied":
		r.Option = "channel"
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		r.Wait = cmp.Or(httpclient.ParseRetryAfter(a.Header, time.Now()), shortWait)
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "rollup_error", "team_added_to_org":
		r.Kind = sdk.ErrUnavailable
	}
	return r
}

// shortWait is the pause between two messages to a channel:
// https://docs.slack.dev/apis/web-api/rate-limits#overview.
const shortWait = time.Second
