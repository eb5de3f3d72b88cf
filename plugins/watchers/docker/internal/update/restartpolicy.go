package update

import (
	"context"

	"github.com/docker/docker/api/types/container"
)

// setRestartPolicy changes the restart policy of a container.
func (r *replacement) setRestartPolicy(ctx context.Context, name, id string, policy container.RestartPolicy) error {
	return r.engine.Post(ctx, "set the restart policy of "+name, "/containers/"+id+"/update", nil, map[string]any{
		"RestartPolicy": policy,
	}, nil)
}

// holdBack takes the restart policy from an old container that is about to be stopped:
// an engine that starts again meanwhile would start it beside the new one, on the same
// volumes. A proxy may refuse that; the update goes on without it.
func (r *replacement) holdBack(ctx context.Context, name string) {
	c := r.old[name]
	if c.HostConfig == nil || !c.HostConfig.RestartPolicy.IsAlways() && !c.HostConfig.RestartPolicy.IsOnFailure() {
		return
	}
	if c.Podman != nil {
		return // Podman 4 changes none, and starts containers by it when the machine starts only
	}
	err := r.setRestartPolicy(ctx, name, c.ID, container.RestartPolicy{Name: container.RestartPolicyDisabled})
	if err != nil {
		r.log.Warn("the restart policy of the old container stays until it is removed", "container", name, "error", err)
	}
}

// releaseRestartPolicy gives an old container its restart policy again.
func (r *replacement) releaseRestartPolicy(ctx context.Context, name string, now container.InspectResponse) error {
	if r.old[name].ContainerJSONBase == nil {
		return nil
	}
	was := r.old[name].HostConfig
	if was == nil || now.HostConfig == nil || was.RestartPolicy.Name == "" ||
		was.RestartPolicy == now.HostConfig.RestartPolicy {
		return nil
	}
	return r.setRestartPolicy(ctx, name, now.ID, was.RestartPolicy)
}
