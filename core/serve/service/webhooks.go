package service

import (
	"context"
	"net/http"

	"github.com/dogwatch/dogwatch/core/watch/webhook"
)

// Webhooks receives what registries and CI send; see webhook.Receiver.
type Webhooks interface {
	Receive(name string, header http.Header, token string, body []byte) (webhook.Receipt, error)
	CheckNow(ctx context.Context, name string, header http.Header, token string, body []byte) ([]webhook.CIResult, error)
	Hooks() []webhook.Status
	Counts() map[webhook.Count]int
}

// ReceiveWebhook takes in a push to the webhook of a name, if it has the secret of
// that: no login is needed. The errors are those of webhook.Receiver.
func (s *Service) ReceiveWebhook(name string, header http.Header, token string, body []byte) (webhook.Receipt, error) {
	receipt, err := s.opt.Webhooks.Receive(name, header, token, body)
	receipt.Reason = s.opt.Redact(receipt.Reason)
	return receipt, s.safe(err)
}

// CheckByWebhook checks what a request of CI names, which has the secret of a webhook.
func (s *Service) CheckByWebhook(
	ctx context.Context, name string, header http.Header, token string, body []byte,
) ([]webhook.CIResult, error) {
	results, err := s.opt.Webhooks.CheckNow(ctx, name, header, token, body)
	for i := range results {
		results[i].Error = s.opt.Redact(results[i].Error)
	}
	return results, s.safe(err)
}

// Webhooks returns the webhooks with their latest pushes, without secrets.
func (s *Service) Webhooks() []webhook.Status {
	all := s.opt.Webhooks.Hooks()
	for _, h := range all {
		for i := range h.Recent {
			h.Recent[i].Reason = s.opt.Redact(h.Recent[i].Reason)
		}
	}
	return all
}
