package enginesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// errorResponse is a response that is not what was asked for.
type errorResponse struct {
	status  int
	message string
}

func (r *errorResponse) Error() string { return r.message }

func refused(status int, format string, args ...any) error {
	return &errorResponse{status, fmt.Sprintf(format, args...)}
}

// answer responds with a document, or with nothing but the status if that is nil.
func answer(w http.ResponseWriter, status int, document any, err error) {
	var r *errorResponse
	switch {
	case errors.As(err, &r) && r.status == http.StatusNotModified:
		w.WriteHeader(r.status)
	case errors.As(err, &r):
		refuse(w, r.status, r.message)
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	case document == nil:
		w.WriteHeader(status)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(document) // the reader may be gone
	}
}

// action is what a request does with a container; the caller holds the lock. A document is for the response.
type action func(r *http.Request, c *Container) (document any, err error)

// changes handles what changes something, and what is read about one container only.
func (e *Engine) changes() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern string, status int, do action) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			document, err := e.with(r, do)
			answer(w, status, document, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "page not found")
	})
	mux.HandleFunc("POST /containers/create", e.createContainer)
	mux.HandleFunc("POST /containers/{id}/start", e.slowly((*Container).startTime, e.startContainer))
	mux.HandleFunc("POST /containers/{id}/stop", e.slowly((*Container).stopTime, e.stopContainer))
	mux.HandleFunc("POST /containers/{id}/restart", e.slowly((*Container).restartTime, e.restartContainer))
	on("POST /containers/{id}/kill", http.StatusNoContent, e.killContainer)
	on("POST /containers/{id}/pause", http.StatusNoContent, e.pauseContainer)
	on("POST /containers/{id}/rename", http.StatusNoContent, e.renameContainer)
	on("POST /containers/{id}/update", http.StatusOK, e.updateContainer)
	on("DELETE /containers/{id}", http.StatusNoContent, e.removeContainer)
	on("GET /containers/{id}/changes", http.StatusOK, nothingWritten)
	mux.HandleFunc("GET /containers/{id}/logs", e.log)
	mux.HandleFunc("POST /images/create", e.pull)
	mux.HandleFunc("POST /images/{id}/tag", e.onImage(e.tagImage))
	mux.HandleFunc("DELETE /images/{id}", e.onImage(e.deleteImage))
	return mux
}

// with calls do with the container of a request, under the lock.
func (e *Engine) with(r *http.Request, do action) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.find(r.PathValue("id"))
	if c == nil {
		return nil, refused(http.StatusNotFound, "No such container: %s", r.PathValue("id"))
	}
	return do(r, c)
}

// slowly handles an action that takes a container some time.
func (e *Engine) slowly(takes func(c *Container) time.Duration, do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var limit time.Duration
		_, err := e.with(r, func(_ *http.Request, c *Container) (any, error) {
			limit = takes(c)
			return nil, nil
		})
		if err == nil {
			time.Sleep(limit) // an engine that was asked goes on when the client has gone
			_, err = e.with(r, do)
		}
		answer(w, http.StatusNoContent, nil, err)
	}
}

// startTime is how long a container takes to start, from its state.
func (c *Container) startTime() time.Duration {
	if c.runs() {
		return 0
	}
	return c.program.StartTime
}

// stopTime is how long it takes to stop, from its state.
func (c *Container) stopTime() time.Duration {
	if !c.runs() {
		return 0
	}
	return c.program.StopTime
}

func (c *Container) restartTime() time.Duration { return c.stopTime() + c.program.StartTime }

// nothingWritten says that a container has written nothing into itself.
func nothingWritten(*http.Request, *Container) (any, error) { return []any{}, nil }

func (e *Engine) createContainer(w http.ResponseWriter, r *http.Request) {
	var body container.CreateRequest
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Config == nil {
		refuse(w, http.StatusBadRequest, "the container is not described")
		return
	}
	c := Container{
		Name: r.URL.Query().Get("name"), Image: body.Image, Labels: body.Labels, State: Created,
		Config: body.Config, Host: body.HostConfig,
	}
	if body.NetworkingConfig != nil {
		c.Networks = body.NetworkingConfig.EndpointsConfig
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch holder := e.find(c.Name); {
	case c.Name == "":
		refuse(w, http.StatusBadRequest, "a simulated container needs a name")
	case holder != nil:
		refuse(w, http.StatusConflict, nameTaken(holder))
	case e.resolve(c.Image) == nil:
		refuse(w, http.StatusNotFound, "No such image: "+c.Image)
	default:
		id, err := e.create(c)
		answer(w, http.StatusCreated, map[string]any{"Id": id, "Warnings": []string{}}, err)
	}
}

func nameTaken(holder *Container) string {
	return fmt.Sprintf("Conflict. The container name %q is already in use by container %q.", "/"+holder.Name, holder.ID)
}

func (e *Engine) startContainer(_ *http.Request, c *Container) (any, error) {
	switch c.State {
	case Running:
		return nil, refused(http.StatusNotModified, "")
	case Paused:
		return nil, refused(http.StatusConflict, "cannot start a paused container, try unpause instead")
	}
	for _, name := range c.networks() {
		if !e.networks[name] {
			return nil, refused(http.StatusNotFound, "network %s not found", name)
		}
	}
	if taken := e.allocated(c); taken != "" {
		return nil, refused(http.StatusInternalServerError, "Bind for %s failed: port is already allocated", taken)
	}
	e.enter(c, Running, "start")
	return nil, nil
}

// allocated returns the address that a container publishes and another one that runs does; "" for none.
func (e *Engine) allocated(c *Container) string {
	used := map[string]bool{}
	for _, other := range e.containers {
		for port, bindings := range other.published() {
			for _, b := range bindings {
				used[port.Proto()+b.HostPort] = true
			}
		}
	}
	for port, bindings := range c.Host.PortBindings {
		for _, b := range bindings {
			if used[port.Proto()+b.HostPort] {
				return b.HostIP + ":" + b.HostPort
			}
		}
	}
	return ""
}

func (e *Engine) stopContainer(_ *http.Request, c *Container) (any, error) {
	if !c.runs() {
		return nil, refused(http.StatusNotModified, "")
	}
	e.enter(c, Exited, "kill", "die", "stop")
	return nil, nil
}

func (e *Engine) restartContainer(_ *http.Request, c *Container) (any, error) {
	if c.runs() {
		e.enter(c, Exited, "kill", "die", "stop")
	}
	e.enter(c, Running, "start", "restart")
	return nil, nil
}

func (e *Engine) killContainer(_ *http.Request, c *Container) (any, error) {
	if !c.runs() {
		return nil, refused(http.StatusConflict, "cannot kill container: %s: container %s is not running", c.Name, c.ID)
	}
	e.enter(c, Exited, "kill", "die")
	return nil, nil
}

func (e *Engine) pauseContainer(_ *http.Request, c *Container) (any, error) {
	if c.State != Running {
		return nil, refused(http.StatusConflict, "container %s is not running", c.ID)
	}
	e.enter(c, Paused, "pause")
	return nil, nil
}

func (e *Engine) renameContainer(r *http.Request, c *Container) (any, error) {
	to := r.URL.Query().Get("name")
	if holder := e.find(to); holder != nil {
		return nil, refused(http.StatusConflict, "%s", nameTaken(holder))
	}
	c.Name = to
	e.publish(c, "rename")
	return nil, nil
}

// updateContainer changes the restart policy, and nothing else.
func (e *Engine) updateContainer(r *http.Request, c *Container) (any, error) {
	var body container.UpdateConfig
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, refused(http.StatusBadRequest, "invalid update: %v", err)
	}
	c.Host.RestartPolicy = body.RestartPolicy
	e.publish(c, "update")
	return map[string]any{"Warnings": []string{}}, nil
}

func (e *Engine) removeContainer(r *http.Request, c *Container) (any, error) {
	force, _ := strconv.ParseBool(r.URL.Query().Get("force"))
	if c.runs() && !force {
		return nil, refused(http.StatusConflict, "cannot remove container %q: container is running: "+
			"stop the container before removing or force remove", "/"+c.Name)
	}
	_, err := e.remove(c.ID)
	return nil, err
}

// log writes the end of the log of a container in frames, as for one without a terminal.
func (e *Engine) log(w http.ResponseWriter, r *http.Request) {
	lines, err := e.with(r, func(_ *http.Request, c *Container) (any, error) { return slices.Clone(c.lines), nil })
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	all := lines.([]string)
	if tail, err := strconv.Atoi(r.URL.Query().Get("tail")); err == nil && tail >= 0 {
		all = all[max(0, len(all)-tail):]
	}
	w.Header().Set("Content-Type", "application/vnd.docker.multiplexed-stream")
	out := stdcopy.NewStdWriter(w, stdcopy.Stdout)
	at := ""
	if r.URL.Query().Get("timestamps") == "1" { // when each was written is not kept
		at = time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z ")
	}
	for _, line := range all {
		line = at + line
		_, _ = out.Write([]byte(line + "\n")) // the reader may be gone
	}
}

// onImage handles what a request does with an image, under the lock.
func (e *Engine) onImage(do func(w http.ResponseWriter, r *http.Request, i *Image)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if i := e.resolve(r.PathValue("id")); i != nil {
			do(w, r, i)
			return
		}
		refuse(w, http.StatusNotFound, "No such image: "+r.PathValue("id"))
	}
}

func (e *Engine) tagImage(w http.ResponseWriter, r *http.Request, i *Image) {
	values := r.URL.Query()
	e.tag(i, tagged(familiar(strings.TrimSuffix(values.Get("repo")+":"+values.Get("tag"), ":"))))
	w.WriteHeader(http.StatusCreated)
}

func (e *Engine) deleteImage(w http.ResponseWriter, _ *http.Request, i *Image) {
	if user := slices.IndexFunc(e.containers, func(c *Container) bool { return c.imageID == i.ID }); user >= 0 {
		refuse(w, http.StatusConflict, fmt.Sprintf(
			"unable to delete %s (cannot be forced) - image is being used by container %s", i.ID, e.containers[user].ID))
		return
	}
	e.removeImage(i.ID)
	answer(w, http.StatusOK, []map[string]string{{"Deleted": i.ID}}, nil)
}
