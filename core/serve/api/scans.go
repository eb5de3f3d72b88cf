package api

import (
	"errors"
	"net/http"

	"github.com/dogwatch/dogwatch/core/decide/scan"
	"github.com/dogwatch/dogwatch/core/update/updater"
	"github.com/dogwatch/dogwatch/sdk"
)

// Scan is what is known of the vulnerabilities of a container's update.
type Scan struct {
	// State is "off" where there is no scanner, and else that of scan.Status.
	State      string           `json:"state"`
	Step       string           `json:"step,omitempty"`
	Since      sdk.Time         `json:"since,omitzero"`
	Error      string           `json:"error,omitempty"`
	Summary    string           `json:"summary,omitempty"`
	Comparison *scan.Comparison `json:"comparison,omitempty"`
}

// scanOff is the state where there is no scanner.
const scanOff = "off"

func scanView(st scan.Status) Scan {
	v := Scan{
		State: string(st.State), Step: st.Step, Since: sdk.TimeOf(st.Since), Error: st.Error, Comparison: st.Comparison,
	}
	if st.Comparison != nil {
		v.Summary = st.Comparison.String()
	}
	return v
}

// getScan responds with how the image of an update compares with the one that runs.
func (h *handler) getScan(w http.ResponseWriter, r *http.Request) {
	if rec := h.container(w, r); rec != nil {
		h.respondScan(w, r, http.StatusOK, rec.Container)
	}
}

// startScan has the images of an update scanned. That goes on when the client disconnects.
func (h *handler) startScan(w http.ResponseWriter, r *http.Request) {
	rec := h.container(w, r)
	if rec == nil {
		return
	}
	err := h.Service.Scan(h.actor(r), rec.Container)
	p := problem{Status: http.StatusConflict}
	switch {
	case err == nil:
		h.respondScan(w, r, http.StatusAccepted, rec.Container)
		return
	case errors.Is(err, scan.ErrNoScanner):
		p.Code = "no-scanner"
	case errors.Is(err, scan.ErrNoUpdate), errors.Is(err, updater.ErrNoUpdate):
		p.Code = "no-update"
	case errors.Is(err, scan.ErrBusy):
		p.Status, p.Code = http.StatusTooManyRequests, "busy"
		w.Header().Set("Retry-After", "60")
	case errors.Is(err, sdk.ErrUnsupported):
		p.Status, p.Code = http.StatusUnprocessableEntity, "unsupported"
	default:
		h.failWith(w, r, err)
		return
	}
	p.Detail = err.Error()
	h.failProblem(w, r, p)
}

func (h *handler) respondScan(w http.ResponseWriter, r *http.Request, status int, c sdk.Container) {
	st, err := h.Service.ScanStatus(r.Context(), c)
	switch {
	case errors.Is(err, scan.ErrNoScanner):
		h.respondStatus(w, r, status, Scan{State: scanOff, Error: err.Error()})
	case err != nil:
		h.failWith(w, r, err)
	default:
		h.respondStatus(w, r, status, scanView(st))
	}
}
