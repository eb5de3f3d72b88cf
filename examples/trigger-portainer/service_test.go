package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const mediaFile = `# what plays on the NAS
services:
  web:
    image: nginx:1.25.3 # keep in step with the quadlet
    environment: { TOKEN: "${TOKEN}" }
  api:
    image: "nginx:1.25.3"
  db:
    image: postgres:${PG}
`

// kept is a stack as Portainer keeps it.
type kept struct {
	file string
	json map[string]any
	// looks is how often a stack that was deployed is still being deployed, as since version 2.36.
	looks   int
	problem string
}

// service is a Portainer with stacks, which takes from a payload all that it has of a stack: what is left out is
// gone.
type service struct {
	url string

	mu       sync.Mutex
	stacks   map[int]*kept
	deployed []string // the requests that deployed something
}

func newService(t *testing.T) *service {
	s := &service{stacks: map[int]*kept{7: newStack(7, "Media", 2, 3)}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func newStack(id int, name string, typ, environment int) *kept {
	return &kept{file: mediaFile, json: map[string]any{
		"Id": id, "Name": name, "Type": typ, "EndpointId": environment, "Status": 1, "Webhook": "638e6967",
		"Env":       []any{map[string]any{"name": "TOKEN", "value": "recognisable-value", "reference": true}},
		"GitConfig": nil, "AutoUpdate": nil,
	}}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, out := s.respond(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func refuse(status int, why string) (int, any) {
	return status, map[string]any{"message": why, "details": why}
}

func (s *service) respond(r *http.Request) (int, any) {
	if r.Header.Get("X-API-Key") != "recognisable-key" {
		return refuse(http.StatusUnauthorized, "Invalid API key")
	}
	if r.Method+r.URL.Path == "GET/api/stacks" {
		all := []any{}
		for _, k := range s.stacks {
			all = append(all, k.json)
		}
		return http.StatusOK, all
	}
	var id int
	_, _ = fmt.Sscanf(r.URL.Path, "/api/stacks/%d", &id)
	k := s.stacks[id]
	if k == nil {
		return refuse(http.StatusNotFound, "Unable to find a stack with the specified identifier inside the database")
	}
	in := map[string]any{}
	call := r.Method + strings.TrimPrefix(r.URL.Path, fmt.Sprintf("/api/stacks/%d", id))
	if r.Method == http.MethodPut {
		if k.json["Status"] == 3 {
			return refuse(http.StatusConflict, "Stack deployment is already in progress")
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil ||
			r.URL.RawQuery != fmt.Sprintf("endpointId=%v", k.json["EndpointId"]) {
			return refuse(http.StatusBadRequest, "Invalid request payload")
		}
	}
	switch call {
	case "GET":
		k.settle()
		return http.StatusOK, k.json
	case "GET/file":
		return http.StatusOK, map[string]any{"StackFileContent": k.file}
	case "PUT":
		if k.file, _ = in["stackFileContent"].(string); k.file == "" {
			return refuse(http.StatusBadRequest, "Invalid stack file content")
		}
		k.json["Webhook"], k.json["GitConfig"], k.json["AutoUpdate"] = in["webhook"], nil, nil
	case "PUT/git/redeploy":
		from, _ := k.json["GitConfig"].(map[string]any)
		if from == nil {
			return refuse(http.StatusBadRequest, "Stack is not created from git")
		}
		if in["repositoryAuthentication"] != true || in["repositoryUsername"] != "ana" {
			return refuse(http.StatusInternalServerError, "Unable to clone git repository directory")
		}
		from["ReferenceName"] = in["repositoryReferenceName"]
	default:
		return refuse(http.StatusNotFound, "404 page not found")
	}
	if in["pullImage"] != true {
		return refuse(http.StatusInternalServerError, "the image is the old one")
	}
	k.json["Env"], k.json["pruned"], k.json["Status"] = in["env"], in["prune"], 3
	k.json["DeploymentStatus"] = []any{map[string]any{"Status": 3, "Time": 1}}
	if k.looks <= 0 {
		k.settle()
	}
	s.deployed = append(s.deployed, r.Method+" "+r.URL.Path)
	return http.StatusOK, k.json
}

// settle ends a deployment that was looked at often enough.
func (k *kept) settle() {
	if k.looks--; k.looks >= 0 || k.json["Status"] != 3 {
		return
	}
	k.json["Status"] = 1
	if k.problem != "" {
		k.json["Status"] = 4
		k.json["DeploymentStatus"] = []any{map[string]any{"Status": 3}, map[string]any{"Status": 4, "Message": k.problem}}
	}
}
