package enginesim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Server is an Engine that listens.
type Server struct {
	// Address is what the watcher's option "socket" takes: "unix:///…/docker.sock" or "tcp://127.0.0.1:…".
	Address string

	server http.Server
	done   chan error
}

// Listen serves on the unix socket docker.sock in dir or, when dir is "", on a free
// port of the loopback interface. The path must not exceed 107 characters.
func (e *Engine) Listen(dir string) (*Server, error) {
	network, address := "tcp", "127.0.0.1:0"
	if dir != "" {
		network, address = "unix", filepath.Join(dir, "docker.sock")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("simulated engine: %w", err)
	}
	return e.Serve(l), nil
}

// Serve serves on a listener, which the Server closes.
func (e *Engine) Serve(l net.Listener) *Server {
	s := &Server{Address: "tcp://" + l.Addr().String(), done: make(chan error, 1)}
	if l.Addr().Network() == "unix" {
		s.Address = "unix://" + l.Addr().String()
	}
	s.server = http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { s.done <- s.server.Serve(l) }()
	return s
}

// Close cuts all connections and waits for the listener to end.
func (s *Server) Close() error {
	err := s.server.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// Route is one endpoint of the API.
type Route string

// The routes.
const (
	Ping             Route = "/_ping"
	Version          Route = "/version"
	ListContainers   Route = "/containers/json"
	InspectContainer Route = "/containers/{id}/json"
	ListImages       Route = "/images/json"
	InspectImage     Route = "/images/{id}/json"
	ListNetworks     Route = "/networks"
	Events           Route = "/events"
)

// Fault is how a route misbehaves; the zero Fault is none.
type Fault struct {
	Status   int    // respond with this status and an error message
	Body     string // respond with 200 and this text
	Hang     bool   // do not respond
	Truncate bool   // cut the connection in the middle of the response
	Times    int    // heal after so many requests; 0 means never
}

// Fail makes a route misbehave until it is given the zero Fault.
func (e *Engine) Fail(r Route, f Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults[r] = f
}

// Requests returns how many requests a route got.
func (e *Engine) Requests(r Route) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests[r]
}

// SetAPIVersion exchanges the engine for one of other versions.
func (e *Engine) SetAPIVersion(newest, oldest string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.config.APIVersion, e.config.MinAPIVersion = newest, oldest
}

// ServeHTTP implements http.Handler.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, path := splitVersion(r.URL.Path)
	route, id := routeOf(path)
	e.mu.Lock()
	e.requests[route]++
	newest, oldest, fault := e.config.APIVersion, e.config.MinAPIVersion, e.faults[route]
	if fault.Times > 0 {
		if fault.Times--; fault.Times == 0 {
			delete(e.faults, route)
		} else {
			e.faults[route] = fault
		}
	}
	e.mu.Unlock()

	w.Header().Set("Api-Version", newest)
	w.Header().Set("Ostype", "linux")
	w.Header().Set("Server", "Docker/simulated (linux)")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && !e.config.Writable:
		refuse(w, http.StatusForbidden, "only reading is allowed")
	case fault.Hang:
		<-r.Context().Done()
	case fault.Status != 0:
		refuse(w, fault.Status, "simulated fault")
	case fault.Body != "":
		_, _ = w.Write([]byte(fault.Body))
	case version != "" && less(version, oldest):
		refuse(w, http.StatusBadRequest,
			fmt.Sprintf("client version %s is too old. Minimum supported API version is %s, please upgrade your client to a newer version", version, oldest))
	case version != "" && less(newest, version):
		refuse(w, http.StatusBadRequest,
			fmt.Sprintf("client version %s is too new. Maximum supported API version is %s", version, newest))
	case route == Ping:
		_, _ = w.Write([]byte("OK"))
	case route == Events:
		e.stream(w, r)
	case route == "":
		inner := r.Clone(r.Context())
		inner.URL.Path, inner.URL.RawPath = path, ""
		e.others.ServeHTTP(w, inner)
	default:
		version = cmp.Or(version, newest)
		e.respond(w, r, route, id, version, fault.Truncate)
	}
}

func (e *Engine) respond(w http.ResponseWriter, r *http.Request, route Route, id, version string, truncate bool) {
	var document any
	problem := ""
	e.mu.Lock()
	switch route {
	case Version:
		document = map[string]any{
			"Version": "simulated", "ApiVersion": e.config.APIVersion, "MinAPIVersion": e.config.MinAPIVersion,
			"Os": "linux", "Arch": "amd64",
		}
	case ListContainers:
		document, problem = e.listContainers(r, version)
	case InspectContainer:
		if c := e.find(id); c != nil {
			sized, _ := strconv.ParseBool(r.URL.Query().Get("size"))
			document = c.inspect(e.config.Now(), sized)
		} else {
			problem = "No such container: " + id
		}
	case ListImages:
		document = e.listImages(version)
	case InspectImage:
		if i := e.resolve(id); i != nil {
			document = i.inspect(r, version)
		} else {
			problem = "No such image: " + id
		}
	case ListNetworks:
		document = e.listNetworks()
	}
	body, err := json.Marshal(document)
	e.mu.Unlock()
	switch {
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	case strings.HasPrefix(problem, "invalid"):
		refuse(w, http.StatusBadRequest, problem)
	case problem != "":
		refuse(w, http.StatusNotFound, problem)
	case truncate:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the reader may be gone
}

// splitVersion takes "/v1.41" off a path.
func splitVersion(path string) (version, rest string) {
	after, found := strings.CutPrefix(path, "/v")
	if !found || after == "" || after[0] < '0' || after[0] > '9' {
		return "", path
	}
	version, rest, _ = strings.Cut(after, "/")
	return version, "/" + rest
}

// routeOf returns the route of a path; "" for those of changes, and for what does not exist.
func routeOf(path string) (r Route, id string) {
	for _, inspect := range []Route{InspectContainer, InspectImage} {
		before, _, _ := strings.Cut(string(inspect), "{id}")
		if id, found := strings.CutPrefix(path, before); found {
			if id, found := strings.CutSuffix(id, "/json"); found && id != "" {
				return inspect, id
			}
		}
	}
	switch r := Route(path); r {
	case Ping, Version, ListContainers, ListImages, ListNetworks, Events:
		return r, ""
	}
	return "", ""
}

// less compares API versions: 1.9 is before 1.41.
func less(a, b string) bool {
	return slices.Compare(numbers(a), numbers(b)) < 0
}

func numbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // anything else counts as 0
		out = append(out, n)
	}
	return out
}
