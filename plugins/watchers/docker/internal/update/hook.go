package update

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/engine"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// hookTimeout is how long a hook may take, if nothing else is set.
const hookTimeout = time.Minute

// hook runs a command of the user in the old or the new container.
func (r *replacement) hook(ctx context.Context, s watcher.Step) error {
	hooks := r.op.Request.Rules.Hooks
	id, command := r.new(s.Container), hooks.Post
	if s.ID == replace.PreHookID(s.Container) {
		id, command = r.old[s.Container].ID, hooks.Pre
	}
	limit := hooks.Timeout
	if limit <= 0 {
		limit = hookTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := r.execute(limited, "the hook", id, command)
	if id == r.old[s.Container].ID && engine.HasStatus(err, http.StatusConflict) {
		// As in a plan that finds it restarting: no command runs in what does not stay up.
		c, failed := r.engine.Container(ctx, id)
		if failed == nil && (replace.Container{InspectResponse: c}).Status() == replace.Restarting {
			return nil
		}
	}
	if limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("the hook did not end within %s", limit)
	}
	return err
}

// execute runs a command in a container and waits for its end. Its output is not
// read, as it may hold secrets.
func (r *replacement) execute(ctx context.Context, what, id string, command []string) error {
	var created struct {
		ID string `json:"Id"`
	}
	if err := r.engine.Post(ctx, "run "+what, "/containers/"+id+"/exec", nil, container.ExecOptions{Cmd: command},
		&created); err != nil {
		return err
	}
	if err := r.engine.Post(ctx, "run "+what, "/exec/"+created.ID+"/start", nil, container.ExecStartOptions{Detach: true},
		nil); err != nil {
		return err
	}
	for {
		state, err := r.engine.Exec(ctx, what, created.ID)
		if err != nil {
			return err
		}
		if !state.Running {
			if state.ExitCode != 0 {
				return fmt.Errorf("%s ends with code %d", what, state.ExitCode)
			}
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
