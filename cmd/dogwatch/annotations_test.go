package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config/label/labeltest"
	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
)

// TestAnnotationsAreWholeLabels: in a cluster each label that there is can be an annotation, also of a workload with a
// container that has the last word of the label as its name.
func TestAnnotationsAreWholeLabels(t *testing.T) {
	var items []string
	wanted := map[string]string{} // the label, by id
	for i, c := range labeltest.Documented(t) {
		last := c.Name[strings.LastIndex(c.Name, ".")+1:]
		items = append(items, fmt.Sprintf(`{"metadata": {"namespace": "media", "name": "w%d",
			"annotations": {"dogwatch/%s": "x"}}, "spec": {"template": {"spec": {"containers": [
			{"name": "other", "image": "nginx:1"}, {"name": %q, "image": "nginx:1"}]}}}}`, i, c.Name, last))
		wanted[fmt.Sprintf("media_deployment_w%d_other", i)] = "dogwatch." + c.Name
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := ""
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			all = strings.Join(items, ",")
		}
		fmt.Fprintf(w, `{"metadata": {"resourceVersion": "1"}, "items": [%s]}`, all)
	}))
	t.Cleanup(server.Close)
	found, err := plugintest.Watcher(t, kubernetes.Type(), map[string]any{"server": server.URL}).List(t.Context())
	if err != nil || len(found) != 2*len(wanted) || len(wanted) < 30 {
		t.Fatalf("%d containers of %d workloads, %v", len(found), len(wanted), err)
	}
	for _, c := range found {
		if label := wanted[c.ID]; label != "" && c.Labels[label] != "x" {
			t.Errorf("a container takes the end of %s for its name: name it in lastWords of plugins/watchers/kubernetes; %v",
				label, c.Labels)
		}
	}
}
