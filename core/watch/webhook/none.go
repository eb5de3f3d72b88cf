package webhook

import (
	"context"
	"net/http"
)

// None is the receiver of a Dogwatch without webhooks: it knows no secret.
type None struct{}

// Receive returns ErrSecret.
func (None) Receive(string, http.Header, string, []byte) (Receipt, error) {
	return Receipt{}, ErrSecret
}

// CheckNow returns ErrSecret.
func (None) CheckNow(context.Context, string, http.Header, string, []byte) ([]Result, error) {
	return nil, ErrSecret
}

// Hooks returns none.
func (None) Hooks() []Status { return []Status{} }

// Counts returns nothing.
func (None) Counts() map[Count]int { return nil }
