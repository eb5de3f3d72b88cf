package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// The types and states of stacks: https://github.com/portainer/portainer/blob/develop/api/portainer.go.
const (
	swarmStack = 1 + iota
	composeStack

	active   = 1
	inactive = 2
)

// stack is what GET /stacks has of one.
type stack struct {
	ID          int `json:"Id"`
	Name        string
	Type        int
	Environment int `json:"EndpointId"`
	Status      int
	// Env are the variables, which are secret. They are returned as they came: what is left out is gone.
	Env     json.RawMessage
	Webhook string // of the Business Edition, where it is gone, too, if it is left out
	Git     *git   `json:"GitConfig"`
	Option  *struct{ Prune bool }
	// Deployment is how the last one went, since Portainer deploys after it has responded.
	Deployment []struct{ Message string } `json:"DeploymentStatus"`
}

// git is where the file of a stack is, if that is a repository.
type git struct {
	URL           string
	ReferenceName string
	// Authentication has no password: Portainer keeps that to itself.
	Authentication *struct {
		Username        string
		GitCredentialID int
	}
}

// problem is why the last deployment failed.
func (s stack) problem() string {
	if len(s.Deployment) == 0 {
		return ""
	}
	return s.Deployment[len(s.Deployment)-1].Message
}

func (s stack) deploying() bool {
	return s.Status != 0 && s.Status != active && s.Status != inactive && s.problem() == ""
}

var unfit = regexp.MustCompile(`[^-_a-z0-9]+`)

// normal is the project of Compose that Portainer makes of a stack with a name.
func normal(name string) string { return unfit.ReplaceAllString(strings.ToLower(name), "") }

func (p *portainer) list(ctx context.Context) ([]stack, error) {
	var all []stack
	err := p.call(ctx, http.MethodGet, "/stacks", nil, &all)
	return all, err
}

// update changes the file of a stack and deploys it. One that is kept in Git is not changed, since Portainer would
// detach it from there: it is deployed anew, if its file has the images already.
func (p *portainer) update(ctx context.Context, s stack, changes []change) error {
	ctx, stop := context.WithTimeout(ctx, p.Timeout)
	defer stop()
	if s.Type != swarmStack && s.Type != composeStack {
		return sdk.WithKind(sdk.ErrUnsupported, errors.New("it is neither of Compose nor of a swarm"))
	}
	if err := p.settle(ctx, &s); err != nil {
		return err
	}
	var file struct{ StackFileContent string }
	if err := p.call(ctx, http.MethodGet, fmt.Sprintf("/stacks/%d/file", s.ID), nil, &file); err != nil {
		return err
	}
	text, err := edit(file.StackFileContent, changes)
	if err != nil {
		return err
	}
	below, in := fmt.Sprintf("/stacks/%d?endpointId=%d", s.ID, s.Environment), s.withFile(text)
	if s.Git != nil {
		if text != file.StackFileContent {
			return sdk.WithRemedy(
				sdk.WithKind(sdk.ErrUnsupported, errors.New("its file is kept in Git, and has to change there")),
				"have trigger-gitea open a pull request, and Portainer's GitOps updates deploy what is merged")
		}
		below, in = fmt.Sprintf("/stacks/%d/git/redeploy?endpointId=%d", s.ID, s.Environment), s.fromGit()
	}
	var deployed stack
	if err := p.call(ctx, http.MethodPut, below, in, &deployed); err != nil {
		return err
	}
	if err := p.settle(ctx, &deployed); err != nil {
		return err
	}
	if why := deployed.problem(); why != "" {
		return sdk.WithRemedy(fmt.Errorf("the deployment failed: %s", why), "look at the stack in Portainer")
	}
	return nil
}

// withFile is the payload of PUT /stacks/{id}. Images are pulled though their tags are the same: until version 2.36
// by the second name.
func (s stack) withFile(text string) map[string]any {
	in := map[string]any{
		"stackFileContent": text, "env": s.Env, "prune": false, "repullImageAndRedeploy": true, "pullImage": true,
	}
	if s.Webhook != "" {
		in["webhook"] = s.Webhook
	}
	return in
}

// fromGit is the payload of PUT /stacks/{id}/git/redeploy: what it leaves out is gone, but for the password.
func (s stack) fromGit() map[string]any {
	in := map[string]any{
		"repositoryReferenceName": s.Git.ReferenceName, "env": s.Env, "pullImage": true,
		"prune": s.Option != nil && s.Option.Prune,
	}
	if a := s.Git.Authentication; a != nil {
		in["repositoryAuthentication"], in["repositoryUsername"] = true, a.Username
		if a.GitCredentialID != 0 {
			in["repositoryGitCredentialID"] = a.GitCredentialID
		}
	}
	return in
}

// settle waits until a stack is not being deployed.
func (p *portainer) settle(ctx context.Context, s *stack) error {
	for s.deploying() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is still being deployed: %w", ctx.Err())
		case <-time.After(p.pause):
		}
		var now stack
		if err := p.call(ctx, http.MethodGet, fmt.Sprintf("/stacks/%d", s.ID), nil, &now); err != nil {
			return err
		}
		*s = now
	}
	return nil
}
