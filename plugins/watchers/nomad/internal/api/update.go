package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// ErrConflict is that a job has been changed since it was read.
var ErrConflict = errors.New("the job was changed meanwhile")

// Version is a version of a job, with what an update needs of it.
type Version struct {
	Job
	Type                                    string // "service", "batch", "system" or "sysbatch"
	Version                                 uint64
	JobModifyIndex                          uint64 // changes with each version
	Periodic, ParameterizedJob, Multiregion *struct{}
	TaskGroups                              []VersionGroup
	// source is the version as the server wrote it.
	source json.RawMessage
}

// VersionGroup is a group with how its allocations are replaced.
type VersionGroup struct {
	Group
	Count  int
	Update *struct {
		Canary           int
		AutoPromote      bool
		ProgressDeadline time.Duration
	}
}

// Read reads a job as it is. The error is an sdk.ErrNotFound where there is none.
func (c *Client) Read(ctx context.Context, namespace, id string) (v Version, err error) {
	err = c.ask(ctx, namespace, id, "", "read the job", readJob, nil, &v.source)
	if err == nil && (json.Unmarshal(v.source, &v) != nil || v.ID == "") {
		err = sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("read the job %s: %s answered without one", id, c.base.Host))
	}
	return v, err
}

// Versions returns the versions of a job that the server still has, the newest first.
func (c *Client) Versions(ctx context.Context, namespace, id string) ([]Version, error) {
	var said struct{ Versions []Version }
	err := c.ask(ctx, namespace, id, "/versions", "read the versions of the job", readJob, nil, &said)
	return said.Versions, err
}

// object is a part of a job of which only little is known.
type object = map[string]any

// parts returns the job and its tasks as they are, the tasks by their group and name. Numbers keep their digits.
func (v Version) parts() (job object, tasks map[[2]string]object, err error) {
	d := json.NewDecoder(bytes.NewReader(v.source))
	d.UseNumber()
	if err := d.Decode(&job); err != nil {
		return nil, nil, fmt.Errorf("read the job %s: %w", v.ID, err)
	}
	tasks = map[[2]string]object{}
	groups, _ := job["TaskGroups"].([]any)
	for _, g := range groups {
		group, _ := g.(object)
		list, _ := group["Tasks"].([]any)
		for _, t := range list {
			task, _ := t.(object)
			tasks[[2]string{fmt.Sprint(group["Name"]), fmt.Sprint(task["Name"])}] = task
		}
	}
	return job, tasks, nil
}

// WithImage returns the job with another image in a task, all else as the server wrote it.
func (v Version) WithImage(group, task, image string) (json.RawMessage, error) {
	job, tasks, err := v.parts()
	if err != nil {
		return nil, err
	}
	config, is := tasks[[2]string{group, task}]["Config"].(object)
	if !is {
		return nil, fmt.Errorf("the task %s of the job %s has no image", task, v.ID)
	}
	config["image"] = image
	return json.Marshal(job)
}

// Settings are the variables and arguments of a task, which may have secrets that its log repeats.
func (v Version) Settings(group, task string) (all []string) {
	_, tasks, _ := v.parts() // it has been read once
	of := tasks[[2]string{group, task}]
	variables, _ := of["Env"].(object)
	for name, value := range variables {
		all = append(all, fmt.Sprintf("%s=%v", name, value))
	}
	config, _ := of["Config"].(object)
	arguments, _ := config["args"].([]any)
	for _, a := range arguments {
		all = append(all, fmt.Sprint(a))
	}
	return all
}

// State identifies what the job is: it differs when somebody has changed more than how many allocations there are,
// which an autoscaler does.
func (v Version) State() string {
	job, _, _ := v.parts() // it has been read once
	for _, name := range []string{
		"Status", "StatusDescription", "ModifyIndex", "JobModifyIndex", "Version", "SubmitTime", "Stable", "VersionTag",
	} {
		delete(job, name)
	}
	groups, _ := job["TaskGroups"].([]any)
	for _, g := range groups {
		if group, is := g.(object); is {
			delete(group, "Count")
		}
	}
	text, _ := json.Marshal(job) // it comes from JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Diff is what of a job, or a part of it, is another one.
type Diff struct {
	Type, Name                         string // "None" where nothing is
	Fields, Objects, TaskGroups, Tasks []Diff
}

// Changes returns the names of the fields that differ, with those of what they are in: "web.nginx.Config.image".
func (d Diff) Changes() (all []string) {
	for _, list := range [][]Diff{d.Fields, d.Objects, d.TaskGroups, d.Tasks} {
		for _, part := range list {
			inner := part.Changes()
			if len(inner) == 0 && part.Type != "None" && len(part.Fields)+len(part.Objects)+len(part.Tasks) == 0 {
				inner = []string{""}
			}
			for _, name := range inner {
				all = append(all, strings.TrimSuffix(part.Name+"."+name, "."))
			}
		}
	}
	return all
}

// Trial is what the server would do with a job.
type Trial struct {
	Diff *Diff
	// FailedTGAllocs are the groups that it finds no node for.
	FailedTGAllocs map[string]Placement
}

// Placement is why an allocation was not placed.
type Placement struct {
	NodesEvaluated, NodesFiltered, NodesExhausted int
	ConstraintFiltered, DimensionExhausted        map[string]int
}

// Try has the server plan a job, which changes nothing.
func (c *Client) Try(ctx context.Context, namespace, id string, job json.RawMessage) (t Trial, err error) {
	err = c.ask(ctx, namespace, id, "/plan", "plan the job", submitJob, object{"Job": job, "Diff": true}, &t)
	return t, err
}

// Register changes a job that nobody has changed since it was read. The error is an ErrConflict where somebody has, and
// an sdk.ErrUnavailable where it is not known whether the change has arrived.
func (c *Client) Register(ctx context.Context, v Version, job json.RawMessage) error {
	return c.ask(ctx, v.Namespace, v.ID, "", "register the job", submitJob, object{
		"Job": job, "EnforceIndex": true, "JobModifyIndex": v.JobModifyIndex,
	}, &struct{}{})
}

// Revert returns a job, as it was read, to an older version. Errors are those of Register.
func (c *Client) Revert(ctx context.Context, v Version, version uint64) error {
	return c.ask(ctx, v.Namespace, v.ID, "/revert", "revert the job", submitJob, object{
		"JobID": v.ID, "JobVersion": version, "EnforcePriorVersion": v.Version,
	}, &struct{}{})
}

// Deployment is how a version of a job is rolled out.
type Deployment struct {
	ID         string // "" for none
	JobVersion uint64
	// Status is "running", "successful", "failed", "cancelled", …
	Status, StatusDescription string
	TaskGroups                map[string]struct{ DesiredTotal, HealthyAllocs int }
}

// Deployment returns the newest one of a job.
func (c *Client) Deployment(ctx context.Context, namespace, id string) (d Deployment, err error) {
	err = c.ask(ctx, namespace, id, "/deployment", "read the deployment of the job", readJob, nil, &d)
	return d, err
}

// Evaluation is what the scheduler has made of a change of a job.
type Evaluation struct {
	Status         string // "complete" once it is done
	CreateIndex    uint64
	FailedTGAllocs map[string]Placement
}

// Evaluations returns those of a job.
func (c *Client) Evaluations(ctx context.Context, namespace, id string) (all []Evaluation, err error) {
	err = c.ask(ctx, namespace, id, "/evaluations", "read the evaluations of the job", readJob, nil, &all)
	return all, err
}

// Allocation is a group of tasks on a node: https://developer.hashicorp.com/nomad/api-docs/allocations.
type Allocation struct {
	ID, TaskGroup               string
	JobVersion, CreateIndex     uint64
	DesiredStatus, ClientStatus string // "run", "stop", "evict"; "pending", "running", "complete", "failed", "lost", …
	TaskStates                  map[string]TaskState
}

// TaskState is how a task of it is.
type TaskState struct {
	Restarts int
	Events   []struct {
		Type, DisplayMessage string // "Terminated", "Driver Failure", …
		Details              map[string]string
	}
}

// Allocations returns those of a job.
func (c *Client) Allocations(ctx context.Context, namespace, id string) (all []Allocation, err error) {
	err = c.ask(ctx, namespace, id, "/allocations", "read the allocations of the job", readJob, nil, &all)
	return all, err
}

// Log writes the last bytes of what a task of an allocation has written to "stdout" or "stderr", one byte more than its
// size where there is more: https://developer.hashicorp.com/nomad/api-docs/client#stream-logs. The error is an
// sdk.ErrNotFound where it has written nothing.
func (c *Client) Log(ctx context.Context, namespace, allocation, task, stream string, size int, to io.Writer) error {
	resp, err := c.open(ctx, c.http, question{"v1/client/fs/logs/" + url.PathEscape(allocation), url.Values{
		"namespace": {namespace}, "task": {task}, "type": {stream}, "plain": {"true"}, "origin": {"end"},
		"offset": {strconv.Itoa(size + 1)},
	}, "read the " + stream + " of the task " + task, readLogs, namespace}, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(to, io.LimitReader(resp.Body, int64(size)+1))
	return err
}

// ask requests something of a job, and posts in where that is not nil.
func (c *Client) ask(
	ctx context.Context, namespace, id, path, doing, capability string, in, out any,
) error {
	q := question{
		"v1/job/" + url.PathEscape(id) + path, url.Values{"namespace": {namespace}}, doing + " " + id, capability, namespace,
	}
	_, err := c.exchange(ctx, c.http, q, in, out)
	return err
}
