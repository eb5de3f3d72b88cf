package enginesim

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// pullSteps is how often the progress of a pull is told.
const pullSteps = 20

type pullProgress struct {
	Current int64 `json:"current"`
	Total   int64 `json:"total"`
}

// pullMessage is one document of the stream of a pull.
type pullMessage struct {
	Status string        `json:"status"`
	ID     string        `json:"id,omitempty"`
	Detail *pullProgress `json:"progressDetail,omitempty"`
}

// pull gets an image by its digest, and tells its progress. A client that goes ends it.
func (e *Engine) pull(w http.ResponseWriter, r *http.Request) {
	repository, digest := r.URL.Query().Get("fromImage"), r.URL.Query().Get("tag")
	var image Image
	found := false
	if e.config.Pull != nil {
		image, found = e.config.Pull(repository, digest)
	}
	if !found {
		refuse(w, http.StatusNotFound, "manifest for "+repository+"@"+digest+" not found: manifest unknown")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out, flusher := json.NewEncoder(w), http.NewResponseController(w)
	tell := func(m pullMessage) { // a client that has gone is found out by its context
		_ = out.Encode(m)
		_ = flusher.Flush()
	}
	tell(pullMessage{Status: "Pulling from " + repository, ID: digest})
	total, layer := cmp.Or(image.Size, 1<<20), Digest("layer " + digest)[7:19]
	for n := range int64(pullSteps) {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(e.config.PullTime / pullSteps):
		}
		tell(pullMessage{Status: "Downloading", ID: layer, Detail: &pullProgress{total * (n + 1) / pullSteps, total}})
	}
	tell(pullMessage{Status: "Pull complete", ID: layer})
	name := familiar(repository) + "@" + digest
	if !slices.Contains(image.Digests, name) {
		image.Digests = append(slices.Clone(image.Digests), name)
	}
	image.Tags = nil // which are given by a request of their own
	e.AddImage(image)
	tell(pullMessage{Status: "Digest: " + digest})
	tell(pullMessage{Status: "Status: Downloaded newer image for " + name})
}
