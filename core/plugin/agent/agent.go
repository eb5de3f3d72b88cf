package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TypeName is the type of the watchers that are agents: watcher.agent.NAME.
const TypeName = "agent"

// Options are those of an agent's watcher, at the controller. They allow no more than the owner of its host does.
type Options struct {
	Logs   bool `option:"logs" default:"false" help:"Show the last lines that a container of the host wrote on its page, to whoever may write, where the owner of the host allows it with dogwatch agent --logs"`
	Update bool `option:"update" default:"false" help:"Let Dogwatch replace containers of the host with newer ones, as far as its owner allows it there"`
	Keep   int  `option:"keep" default:"0" min:"0" max:"10" help:"How many old containers to keep after an update; the label dogwatch.update.keep overrides it"`
	Prune  bool `option:"prune" default:"false" help:"Remove images that no container uses after an update"`
	Hooks  bool `option:"hooks" default:"false" help:"Run the commands of the labels dogwatch.hook.pre and dogwatch.hook.post, where the owner of the host allows it with dogwatch agent --allow-hooks"`
}

// Type describes the watcher that an agent is, at the controller.
func Type() watcher.Type { return typeOf(func() (*Watcher, error) { return nil, sdk.ErrUnsupported }) }

func typeOf(create func() (*Watcher, error)) watcher.Type {
	return watcher.Define(TypeName, "Containers of a host on which an agent runs",
		func(sdk.Env, Options) (*Watcher, error) { return create() }, watcher.AttributesLabels())
}

// Agent is one that has joined.
type Agent struct {
	Name string
	// Key identifies it: the SHA-256 of its public key.
	Key []byte
	// Version is that of its program when it was connected last.
	Version string
	Joined  time.Time
	// Creator is who made the token that it joined with.
	Creator string
	// Seen is when it was connected last; the zero time when it never was.
	Seen time.Time
}

// Wanted is a token as it is stored.
type Wanted struct {
	ID   string
	Hash []byte
	// Name is the one that the agent gets; "" leaves it to the agent. An agent of that name loses it.
	Name    string
	Creator string
	Expires time.Time
}

// Why an agent cannot join, or go on.
var (
	ErrTokenUnknown = errors.New("the controller knows no such token: make one with dogwatch agent token")
	ErrTokenUsed    = errors.New("the token was used already, and works once: make another with dogwatch agent token")
	ErrTokenExpired = errors.New("the token has expired, ten minutes after it was made: make another with " +
		"dogwatch agent token")
	ErrNameTaken = errors.New("another watcher has this name: choose another with --name, or make a token for this name " +
		"with dogwatch agent token --name")
	ErrUnknown = errors.New("the controller knows no agent with this key: it was revoked, or the controller's store is " +
		"an older one; to join again, make a token with dogwatch agent token")
	ErrNotFound = errors.New("no such agent")
)

// Store keeps agents and tokens. What one call changes is changed as a whole.
type Store interface {
	AddAgentToken(ctx context.Context, t Wanted) error
	// JoinAgent uses a token, and adds the agent with the name that the token has, or else its own. It may be repeated
	// with the same key. The errors are ErrTokenUnknown, ErrTokenUsed, ErrTokenExpired and ErrNameTaken.
	JoinAgent(ctx context.Context, id string, hash []byte, a Agent) (Agent, error)
	// Agents returns all, by name.
	Agents(ctx context.Context) ([]Agent, error)
	// SeenAgent stores when an agent was connected, and its version.
	SeenAgent(ctx context.Context, key []byte, version string, at time.Time) error
	// RemoveAgent and RenameAgent return ErrNotFound for a name that no agent has, and RenameAgent ErrNameTaken.
	RemoveAgent(ctx context.Context, name string) error
	RenameAgent(ctx context.Context, name, to string) error
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckName returns what is wrong with a name of an agent.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%q is no name of an agent: want a-z, 0-9 and - between them, up to 63 of them", name)
	}
	return nil
}
