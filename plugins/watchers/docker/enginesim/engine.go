// Package enginesim simulates a Docker Engine: the read-only part of its HTTP API, over
// containers and images that exist in memory only. Tests, benchmarks and the demo run
// a real watcher with it.
//
// Its responses follow https://docs.docker.com/reference/api/engine/ for the API
// versions from 1.41 (Docker 20.10) to 1.51 (Docker 28), and are the same for the same calls.
package enginesim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
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
}

// Image is an image of the engine.
type Image struct {
	ID           string   // derived from the other fields when empty
	Tags         []string // "nginx:1.25"; an image added later takes them away
	Digests      []string // "nginx@sha256:…"
	OS           string   // "" means linux
	Architecture string   // "" means amd64
	Variant      string
	Created      time.Time
	Labels       map[string]string // which its containers get, too
	// Builds and Pulls are what an engine with containerd's store says of where it is from (API 1.53).
	Builds, Pulls []string
	// Platforms are further ones under the same id, as an engine with containerd's store
	// has them. A container runs one of them if its Platform says so.
	Platforms []Image
}

// platform returns the image for a platform such as "linux/arm64"; itself for "".
func (i *Image) platform(name string) *Image {
	for n := range i.Platforms {
		if p := &i.Platforms[n]; p.OS+"/"+p.Architecture == name {
			return p
		}
	}
	return i
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

	given   map[string]string // Labels without those of the image
	imageID string
	born    time.Time
}

// Engine is a simulated engine. All methods may be called concurrently.
type Engine struct {
	config Config

	mu         sync.Mutex
	images     map[string]*Image // by id
	tags       map[string]*Image // by tag
	containers []*Container      // oldest first
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
	if c.APIVersion == "" {
		c.APIVersion = "1.51"
	}
	if c.MinAPIVersion == "" {
		c.MinAPIVersion = "1.24"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Engine{
		config:    c,
		images:    map[string]*Image{},
		tags:      map[string]*Image{},
		faults:    map[Route]Fault{},
		requests:  map[Route]int{},
		published: make(chan struct{}),
		broken:    make(chan struct{}),
		opened:    make(chan struct{}),
	}
}

// Digest is a well-formed digest that depends on the text only.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// AddImage adds an image, as pulling or building does, and returns its id. Its tags
// move to it from the images that had them.
func (e *Engine) AddImage(i Image) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.addImage(i)
}

func (e *Engine) addImage(i Image) string {
	if i.ID == "" {
		i.ID = Digest(fmt.Sprint("image ", i.Tags, i.Digests, i.OS, i.Architecture, i.Variant, i.Created))
	}
	if i.OS == "" {
		i.OS = "linux"
	}
	if i.Architecture == "" {
		i.Architecture = "amd64"
	}
	i.Tags = slices.Clone(i.Tags)
	for n, t := range i.Tags {
		t = tagged(t)
		if other := e.tags[t]; other != nil {
			other.Tags = slices.DeleteFunc(other.Tags, func(s string) bool { return s == t })
		}
		i.Tags[n], e.tags[t] = t, &i
	}
	e.images[i.ID] = &i
	return i.ID
}

// RemoveImage removes an image, also from under its containers.
func (e *Engine) RemoveImage(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := e.images[id]; i != nil {
		for _, t := range i.Tags {
			delete(e.tags, t)
		}
		delete(e.images, id)
	}
}

// Create adds a container of an image that the engine has, and returns its id.
func (e *Engine) Create(c Container) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
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
	if c.State == "" {
		c.State = Running
	}
	labels := maps.Clone(image.platform(c.Platform).Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, c.Labels)
	c.imageID, c.born, c.given, c.Labels = image.ID, e.config.Now(), maps.Clone(c.Labels), labels
	e.containers = append(e.containers, &c)
	e.publish(&c, "create")
	if c.State == Running {
		e.publish(&c, "start")
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
	c.State = state
	for _, a := range actions {
		e.publish(c, a)
	}
	return nil
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
	if c.State == Running {
		c.State = Exited
		e.publish(c, "die")
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
	return e.create(Container{Name: name, Aliases: old.Aliases, Image: image, Labels: old.given})
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

// resolve returns the image that a reference means: a tag, a digest, or an id or its beginning.
func (e *Engine) resolve(ref string) *Image {
	if i, ok := e.images[ref]; ok {
		return i
	}
	if i, ok := e.tags[tagged(ref)]; ok {
		return i
	}
	pinned, digest, isPinned := strings.Cut(ref, "@")
	for id, i := range e.images {
		if !isPinned && len(ref) >= 4 && strings.HasPrefix(strings.TrimPrefix(id, "sha256:"), ref) {
			return i
		}
		for _, d := range i.Digests {
			repository, own, _ := strings.Cut(d, "@")
			if isPinned && own == digest && (pinned == repository || strings.HasPrefix(pinned, repository+":")) {
				return i
			}
		}
	}
	return nil
}

// tagged adds the tag that a reference without one means.
func tagged(ref string) string {
	if strings.Contains(ref, "@") || strings.Contains(ref[strings.LastIndexByte(ref, '/')+1:], ":") {
		return ref
	}
	return ref + ":latest"
}
