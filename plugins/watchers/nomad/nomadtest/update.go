package nomadtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// Rollout is what becomes of a version of a job.
type Rollout struct {
	// Deployment is the status of its deployment, "" for none, and Description what is said of that.
	Deployment, Description string
	// Allocations are those of its first group, without what is the same for all.
	Allocations []Object
	// Failed are the groups that are not placed, with the reason.
	Failed Object
	// Reverts has Nomad return to the version before, as auto_revert does.
	Reverts bool
}

// rollouts are those of a job.
type rollouts struct {
	deployment               Object
	allocations, evaluations []Object
}

// Running is an allocation that runs.
func Running() Object { return Object{"ClientStatus": "running"} }

// Failing is an allocation whose task ended with an exit code.
func Failing(task string, code int) Object {
	return Object{"ClientStatus": "failed", "TaskStates": Object{task: Object{"Failed": true, "Restarts": 2, "Events": []Object{
		{"Type": "Started", "DisplayMessage": "Task started by client"},
		{"Type": "Terminated", "DisplayMessage": fmt.Sprintf("Exit Code: %d", code), "Details": Object{"exit_code": fmt.Sprint(code)}},
		{"Type": "Not Restarting", "DisplayMessage": "Exceeded allowed attempts 2 in interval 30m0s"},
		{"Type": "Alloc Unhealthy", "DisplayMessage": "Unhealthy because of failed task"},
	}}}}
}

// Image is that of the first task of a job, or of the one that it is given.
func Image(job Object) string {
	tasks := job["TaskGroups"].([]any)[0].(Object)["Tasks"].([]any)
	return fmt.Sprint(tasks[0].(Object)["Config"].(Object)["image"])
}

// Job returns a job as it is now: "media/web".
func (s *Server) Job(key string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.jobs[key])
}

// Work has what becomes of the newest version of a job: "media/web".
func (s *Server) Work(key string, r Rollout) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work(s.jobs[key], r)
}

// job answers about a job, or changes it. The caller holds mu.
func (s *Server) job(w http.ResponseWriter, r *http.Request, key, of string) {
	job, has := s.jobs[key]
	if !has {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "job not found")
		return
	}
	done := s.rollouts[key]
	if done == nil {
		done = &rollouts{}
	}
	var in struct {
		Job                                             Object
		EnforceIndex                                    bool
		JobModifyIndex, JobVersion, EnforcePriorVersion int
	}
	if r.Method == http.MethodPost {
		d := json.NewDecoder(r.Body)
		d.UseNumber()
		if err := d.Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	var out any
	switch {
	case r.Method == http.MethodGet:
		var is bool
		out, is = map[string]any{
			"": job, "versions": Object{"Versions": s.versions[key]}, "deployment": done.deployment,
			"allocations": done.allocations, "evaluations": done.evaluations,
		}[of]
		if !is {
			w.WriteHeader(http.StatusNotFound)
			return
		}
	case of == "plan":
		response := Object{"Diff": diff(job, in.Job), "JobModifyIndex": job["JobModifyIndex"]}
		if s.Planned != nil {
			s.Planned(response)
		}
		out = response
	case of == "" && in.EnforceIndex && in.JobModifyIndex != job["JobModifyIndex"]:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "Enforcing job modify index %d: job exists with conflicting job modify index: %v",
			in.JobModifyIndex, job["JobModifyIndex"])
		return
	case of == "":
		out = s.change(in.Job)
	case of == "revert" && in.EnforcePriorVersion != job["Version"]:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "Current job has version %v; enforcing version %d", job["Version"], in.EnforcePriorVersion)
		return
	case of == "revert":
		i := slices.IndexFunc(s.versions[key], func(v Object) bool { return v["Version"] == in.JobVersion })
		out = s.change(maps.Clone(s.versions[key][i]))
	}
	_ = json.NewEncoder(w).Encode(out)
}

// change registers a job that a client has sent, and rolls it out. The caller holds mu.
func (s *Server) change(job Object) Object {
	s.register(job)
	r := Rollout{Deployment: "successful", Allocations: []Object{Running()}}
	if s.RollOut != nil {
		r = s.RollOut(job)
	}
	s.work(job, r)
	response := Object{"EvalID": "d092fdc0", "JobModifyIndex": job["JobModifyIndex"]}
	if r.Reverts {
		s.change(maps.Clone(s.versions[keyOf(job)][1]))
	}
	return response
}

// work makes the allocations of the newest version of a job. The caller holds mu.
func (s *Server) work(job Object, r Rollout) {
	s.index++
	key := keyOf(job)
	done := s.rollouts[key]
	if done == nil {
		done = &rollouts{allocations: []Object{}}
		s.rollouts[key] = done
	}
	for _, a := range done.allocations {
		a["DesiredStatus"] = "stop"
		if a["ClientStatus"] == "running" {
			a["ClientStatus"] = "complete"
		}
	}
	group := job["TaskGroups"].([]any)[0].(Object)
	healthy := 0
	for _, part := range r.Allocations {
		s.index++
		a := Object{
			"ID": "5c2b8b5f-" + strconv.Itoa(s.index), "TaskGroup": group["Name"], "JobVersion": job["Version"],
			"CreateIndex": s.index, "DesiredStatus": "run",
		}
		maps.Copy(a, part)
		if a["ClientStatus"] == "running" {
			healthy++
		}
		done.allocations = append(done.allocations, a)
	}
	done.evaluations = append(done.evaluations, Object{"Status": "complete", "CreateIndex": s.index, "FailedTGAllocs": r.Failed})
	if r.Deployment != "" {
		done.deployment = Object{
			"ID": "70638f62", "JobVersion": job["Version"], "Status": r.Deployment, "StatusDescription": r.Description,
			"TaskGroups": Object{fmt.Sprint(group["Name"]): Object{"DesiredTotal": len(r.Allocations), "HealthyAllocs": healthy}},
		}
	}
}

// diff is what the images of two versions of a job differ in.
func diff(was, is Object) Object {
	edited := func(name any, part string, of ...Object) Object {
		return Object{"Type": "Edited", "Name": name, part: of}
	}
	group := is["TaskGroups"].([]any)[0].(Object)
	image := Object{"Type": "Edited", "Name": "image", "Old": Image(was), "New": Image(is)}
	task := edited(group["Tasks"].([]any)[0].(Object)["Name"], "Objects", edited("Config", "Fields", image))
	task["Annotations"] = []string{"forces create/destroy update"}
	inner := edited(group["Name"], "Tasks", task)
	inner["Updates"] = map[string]int{"create/destroy update": 1}
	return Object{"Type": "Edited", "ID": is["ID"], "TaskGroups": []Object{inner}}
}
