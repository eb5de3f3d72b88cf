package webhook

import (
	"context"
	"net/http"
)

// None is the receiver of a Dogwatch without webhooks. It knows no secret: whatever it receives is an ErrSecret.
type None struct{}

func (None) Receive(string, http.Header, string, []byte) (Receipt, error) {
	return Receipt{}, ErrSecret
}
func (None) CheckNow(context.Context, string, http.Header, string, []byte) ([]CIResult, error) {
	return nil, ErrSecret
}
func (None) Hooks() []Status       { return []Status{} }
func (None) Counts() map[Count]int { return nil }
