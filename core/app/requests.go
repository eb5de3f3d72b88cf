package app

import "context"

// saveRequests keeps what was counted of requests since the last check.
func (a *App) saveRequests() {
	if a.checker != nil {
		a.checker.SaveRequests(context.Background())
	}
}
