package api

import (
	"net/http"

	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk"
)

// summary are the numbers that dashboards show. Updates counts what the list of
// containers marks with updateAvailable, and is the sum of the kinds below it. A
// container whose last check failed may still have the update that was found before: it is
// one of Stale. Containers is the sum of Updates, UpToDate, Failed, Unchecked,
// Unknown and Postponed.
type summary struct {
	Containers int `json:"containers"`
	Updates    int `json:"updates"`
	Major      int `json:"major"`
	Minor      int `json:"minor"`
	Patch      int `json:"patch"`
	Prerelease int `json:"prerelease"`
	Digest     int `json:"digest"`
	// Other are new tags whose distance from the running one has no name.
	Other int `json:"other"`
	// Offered, Held and Automatic are what became of the updates, and their sum is Updates.
	Offered   int `json:"offered"`
	Held      int `json:"held"`
	Automatic int `json:"automatic"`
	UpToDate  int `json:"upToDate"`
	Failed    int `json:"failed"`
	Unchecked int `json:"unchecked"`
	// Unknown are those of which the last check could compare nothing.
	Unknown int `json:"unknown"`
	// Postponed are those without a known update whose check waits for a registry's pause.
	Postponed int `json:"postponed"`
	// Stale are those of Updates whose last check failed.
	Stale int `json:"stale"`
	// FailedWatchers are those that do not work: most often, their engine cannot be reached.
	FailedWatchers int `json:"failedWatchers"`
	// LastCheck is when a container was checked last, NextCheck when the next watcher is.
	LastCheck sdk.Time `json:"lastCheck,omitzero"`
	NextCheck sdk.Time `json:"nextCheck,omitzero"`
}

func (h *handler) summary(w http.ResponseWriter, r *http.Request) {
	given, err := parameters(r, oneOf("watcher"))
	if err != nil {
		h.failWith(w, r, err)
		return
	}
	counted, known := h.Service.Summary(given["watcher"])
	if !known {
		h.fail(w, r, http.StatusNotFound, "Watcher not found")
		return
	}
	h.respond(w, r, summaryOf(counted))
}

func summaryOf(s service.Summary) summary {
	return summary{
		Containers: s.All, Updates: s.Updates, Major: s.Major, Minor: s.Minor, Patch: s.Patch, Prerelease: s.Prerelease,
		Digest: s.Digest, Other: s.Others,
		Offered: s.Offered, Held: s.Held, Automatic: s.Automatic,
		UpToDate: s.Current, Failed: s.Failed, Unchecked: s.Unchecked, Unknown: s.Unknown, Postponed: s.Postponed,
		Stale: s.Stale, FailedWatchers: s.FailedWatchers,
		LastCheck: sdk.TimeOf(s.LastCheck), NextCheck: sdk.TimeOf(s.NextCheck),
	}
}
