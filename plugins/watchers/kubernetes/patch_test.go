package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// patch applies an image as the API server does: https://kubernetes.io/docs/reference/using-api/server-side-apply/
func (s *server) patch(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	before, rest, _ := strings.Cut(r.URL.Path, "/namespaces/")
	parts := strings.Split(rest, "/") // media/deployments/web
	path := before + "/" + parts[1]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, "patch "+r.URL.String())
	if refused := s.refusals["patch "+path]; refused.code != 0 {
		fail(w, refused.code, refused.message)
		return
	}
	if r.Header.Get("Content-Type") != "application/apply-patch+yaml" {
		fail(w, http.StatusUnsupportedMediaType, "no apply")
		return
	}
	var config struct {
		Metadata struct{ ResourceVersion string }
	}
	_ = json.Unmarshal(body, &config)
	key := parts[0] + "/" + parts[2]
	o := s.objects[path][key]
	if s.between != nil {
		o = s.between(o)
	}
	switch {
	case o == nil:
		fail(w, http.StatusNotFound, "not found")
		return
	case config.Metadata.ResourceVersion != o["metadata"].(object)["resourceVersion"]:
		fail(w, http.StatusConflict, "the object has been modified; please apply your changes to the latest version and try again")
		return
	case r.FormValue("dryRun") == "All":
		fmt.Fprint(w, "{}")
		return
	}
	var applied object
	_ = json.Unmarshal(body, &applied)
	changed := clone(o)
	metadata := changed["metadata"].(object)
	managers, _ := metadata["managedFields"].([]any)
	kept := []any{object{"manager": r.FormValue("fieldManager"), "operation": "Apply", "fieldsV1": fieldsOf(applied)}}
	for _, m := range managers {
		if m := m.(object); m["manager"] != r.FormValue("fieldManager") && r.FormValue("force") != "true" {
			fail(w, http.StatusConflict, fmt.Sprintf("Apply failed with 1 conflict: conflict with %q", m["manager"]))
			return
		}
	}
	metadata["managedFields"] = kept
	for _, c := range containers(applied) {
		for _, had := range containers(changed) {
			if c.(object)["name"] == had.(object)["name"] {
				had.(object)["image"] = c.(object)["image"]
			}
		}
	}
	s.version++
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	generation, _ := metadata["generation"].(float64)
	metadata["generation"] = generation + 1
	if s.rollOut != nil {
		changed["status"] = s.rollOut(containers(changed)[0].(object)["image"].(string), changed)
	}
	s.objects[path][key] = changed
	s.emit(event{s.version, path, "MODIFIED", changed})
	fmt.Fprint(w, "{}")
}

func clone(o object) (c object) {
	text, _ := json.Marshal(o)
	_ = json.Unmarshal(text, &c)
	return c
}

func containers(o object) []any {
	spec := o["spec"].(object)
	if job, has := spec["jobTemplate"].(object); has {
		spec = job["spec"].(object)
	}
	all, _ := spec["template"].(object)["spec"].(object)["containers"].([]any)
	return all
}

// fieldsOf are the fields of an image, as managers have them.
func fieldsOf(applied object) object {
	fields := object{}
	for _, c := range containers(applied) {
		fields[fmt.Sprintf(`k:{"name":%q}`, c.(object)["name"])] = object{"f:image": object{}}
	}
	template := object{"f:template": object{"f:spec": object{"f:containers": fields}}}
	if applied["kind"] == "CronJob" {
		return object{"f:spec": object{"f:jobTemplate": object{"f:spec": template}}}
	}
	return object{"f:spec": template}
}

// managed is the managedFields of a workload whose image a manager has set.
func managed(t *testing.T, kind, manager, operation, container string) string {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(workload(kind, "media", container, "", "", "", "", "nginx")), &o); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]object{{"manager": manager, "operation": operation, "fieldsV1": fieldsOf(o)}})
	if err != nil {
		t.Fatal(err)
	}
	return `"managedFields": ` + string(text)
}
