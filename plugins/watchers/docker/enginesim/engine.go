// Package enginesim simulates a Docker Engine: the part of its HTTP API that lists and
// replaces containers, over containers and images that exist in memory only. Tests,
// benchmarks and the demo run a real watcher with it.
//
// Its responses follow https://docs.docker.com/reference/api/engine/ for the API
// versions from 1.41 (Docker 20.10) to 1.51 (Docker 28), and are the same for the same calls.
package enginesim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
)

// The states of a container, in the engine's words.
const (
	Created = "created"
	Running = "running"
	Paused  = "paused"
	Exited  = "exited"
)

// Config is the kind of engine that is simulated.
type Config struct {
	// APIVersion is the newest version spoken; "" means "1.51".
	APIVersion string
	// MinAPIVersion is the oldest version spoken; "" means "1.24". Docker 29 and later refuse anything before 1.44.
	MinAPIVersion string
	// Now is the engine's clock; nil means time.Now.
	Now func() time.Time
	// Writable lets clients change something; else the engine refuses that, as behind a
	// socket proxy that only reads.
	Writable bool
	// Pull returns the image that is pulled as repository@digest, false where there is none. With
	// nil there is none at all. It is called without locks.
	Pull func(repository, digest string) (Image, bool)
	// PullTime is how long a pull takes.
	PullTime time.Duration
}

// Container is a container of the engine.
type Container struct {
	ID      string   // derived from the name and a counter when empty
	Name    string   // without a slash
	Aliases []string // further names that the list has, such as "web/db"; they come first
	Image   string   // as the user wrote it: a tag, a digest or an image id
	Labels  map[string]string
	State   string // "" means Running
	// Platform is one of the image's Platforms; "" means its own.
	Platform string
	// Config, Host and Networks are what its creator says besides; they may be nil. Config.Image
	// and Config.Labels do not count. Without Host it has no network.
	Config   *container.Config
	Host     *container.HostConfig
	Networks map[string]*network.EndpointSettings // by name; with nil the one of Host.NetworkMode

	given   map[string]string // Labels without those of the image
	imageID string
	born    time.Time
	serial  int
	// config is Config with what the image says.
	config  container.Config
	mounts  []container.MountPoint
	program Program
	lines   []string // of its log
	// started and finished are when it last did; zero for never.
	started, finished time.Time
}

// Engine is a simulated engine. All methods may be called concurrently.
type Engine struct {
	config Config
	others http.Handler // of requests without a Route

	mu         sync.Mutex
	images     map[string]*Image // by id
	tags       map[string]*Image // by tag
	containers []*Container      // oldest first
	networks   map[string]bool   // by name
	serial     int
	faults     map[Route]Fault
	requests   map[Route]int
	history    []event       // the events that a new stream may request
	sequence   int           // of the newest event
	lastEvent  time.Time     // events have distinct, rising times
	published  chan struct{} // closed and replaced at each event
	broken     chan struct{} // closed and replaced to break the streams
	streams    int           // opened so far
	opened     chan struct{} // closed and replaced when one is opened
}

// New makes an engine without images and containers.
func New(c Config) *Engine {
	c.APIVersion = cmp.Or(c.APIVersion, "1.51")
	if c.MinAPIVersion == "" {
		c.MinAPIVersion = "1.24"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	e := &Engine{
		config:    c,
		images:    map[string]*Image{},
		tags:      map[string]*Image{},
		networks:  map[string]bool{network.NetworkBridge: true, network.NetworkHost: true, network.NetworkNone: true},
		faults:    map[Route]Fault{},
		requests:  map[Route]int{},
		published: make(chan struct{}),
		broken:    make(chan struct{}),
		opened:    make(chan struct{}),
	}
	e.others = e.changes()
	return e
}

// Digest is a well-formed digest that depends on the text only.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Create adds a container of an image that the engine has, and its networks, and returns its id.
func (e *Engine) Create(c Container) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range c.networks() {
		e.networks[name] = true
	}
	return e.create(c)
}

func (e *Engine) create(c Container) (string, error) {
	if e.find(c.Name) != nil {
		return "", fmt.Errorf("create container %s: the name is taken", c.Name)
	}
	image := e.resolve(c.Image)
	if image == nil {
		return "", fmt.Errorf("create container %s: no such image: %s", c.Name, c.Image)
	}
	e.serial++
	if c.ID == "" {
		c.ID = strings.TrimPrefix(Digest(fmt.Sprint("container ", c.Name, e.serial)), "sha256:")
	}
	wanted := c.State
	c.State, c.serial = Created, e.serial
	c.imageID, c.born, c.given, c.program = image.ID, e.config.Now(), maps.Clone(c.Labels), image.Program
	c.merge(image)
	var err error
	if c.mounts, err = e.mountsOf(&c); err != nil {
		return "", err
	}
	e.containers = append(e.containers, &c)
	e.publish(&c, "create")
	switch wanted {
	case "", Running:
		e.enter(&c, Running, "start")
	default:
		c.State = wanted
	}
	return c.ID, nil
}

// Start starts a container that is not running.
func (e *Engine) Start(name string) error { return e.change(name, Running, "start") }

// Stop stops a container.
func (e *Engine) Stop(name string) error { return e.change(name, Exited, "die", "stop") }

// Pause freezes a container.
func (e *Engine) Pause(name string) error { return e.change(name, Paused, "pause") }

// Unpause undoes Pause.
func (e *Engine) Unpause(name string) error { return e.change(name, Running, "unpause") }

func (e *Engine) change(name, state string, actions ...string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.find(name)
	if c == nil {
		return fmt.Errorf("%s container %s: no such container", actions[0], name)
	}
	e.enter(c, state, actions...)
	return nil
}

// runs reports whether processes of a container exist.
func (c *Container) runs() bool { return c.State == Running || c.State == Paused }

// enter puts a container into a state.
func (e *Engine) enter(c *Container, state string, actions ...string) {
	switch {
	case state == Running && c.State != Paused:
		c.started = e.config.Now()
		c.lines = append(c.lines, c.program.Log...)
	case state == Exited:
		c.finished = e.config.Now()
	}
	c.State = state
	for _, a := range actions {
		e.publish(c, a)
	}
}

// Rename gives a container another name.
func (e *Engine) Rename(name, to string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.find(name)
	if c == nil || e.find(to) != nil {
		return fmt.Errorf("rename container %s to %s: no such container, or the name is taken", name, to)
	}
	c.Name = to
	e.publish(c, "rename")
	return nil
}

// Remove removes a container, stopping it first.
func (e *Engine) Remove(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.remove(name)
	return err
}

func (e *Engine) remove(name string) (*Container, error) {
	c := e.find(name)
	if c == nil {
		return nil, fmt.Errorf("remove container %s: no such container", name)
	}
	if c.runs() {
		e.enter(c, Exited, "die")
	}
	e.containers = slices.DeleteFunc(e.containers, func(other *Container) bool { return other == c })
	e.publish(c, "destroy")
	return c, nil
}

// Recreate replaces a container by one of another image with the same name and
// labels, as an update does, and returns its id.
func (e *Engine) Recreate(name, image string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resolve(image) == nil {
		return "", fmt.Errorf("recreate container %s: no such image: %s", name, image)
	}
	old, err := e.remove(name)
	if err != nil {
		return "", err
	}
	return e.create(Container{
		Name: name, Aliases: old.Aliases, Image: image, Labels: old.given,
		Config: old.Config, Host: old.Host, Networks: old.Networks,
	})
}

// Populate adds n running containers, each of its own image. The reference of the
// i-th is given by reference(i); the container is called "c" and the number in four digits.
func (e *Engine) Populate(n int, reference func(i int) string) error {
	for i := range n {
		ref := reference(i)
		name, _, _ := strings.Cut(ref, "@")
		if slash := strings.LastIndexByte(name, '/'); strings.Contains(name[slash+1:], ":") {
			name = name[:strings.LastIndexByte(name, ':')]
		}
		e.AddImage(Image{
			Tags:    []string{ref},
			Digests: []string{name + "@" + Digest("index of "+ref)},
			Created: time.Date(2024, 1, 2, 3, 4, 5, 678_901_234, time.UTC),
		})
		if _, err := e.Create(Container{Name: fmt.Sprintf("c%04d", i), Image: ref}); err != nil {
			return err
		}
	}
	return nil
}

// find returns the container with a name or an id.
func (e *Engine) find(name string) *Container {
	for _, c := range e.containers {
		if c.Name == name || c.ID == name {
			return c
		}
	}
	return nil
}
