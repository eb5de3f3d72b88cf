package api

// Job is what a watcher reads of a job: https://developer.hashicorp.com/nomad/api-docs/json-jobs. Lists have only its
// first fields.
type Job struct {
	ID, Namespace string
	// ParentID is the job that this one was made from, at a time or on request; "" for none.
	ParentID string
	// Status is "pending", "running" or "dead".
	Status string
	// ModifyIndex changes with whatever changes of the job, its status too.
	ModifyIndex uint64

	Stop bool
	Meta map[string]string
	// SubmitTime is when the version was registered, in nanoseconds since 1970.
	SubmitTime int64
	TaskGroups []Group
}

// Group is a group of tasks, which run on one node.
type Group struct {
	Name  string
	Meta  map[string]string
	Tasks []Task
}

// Task is a task of a group.
type Task struct {
	Name, Driver string
	Meta         map[string]string
	// Config is what the driver makes of it: that of another one may have an image that is no text.
	Config struct {
		Image any `json:"image"`
	}
}
