package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// BenchmarkWebhook measures from a delivery to a webhook to the result of its image in the
// API, with the built program, 200 containers and registries that are 30 ms away. Each
// iteration is another repository; figures are medians.
func BenchmarkWebhook(b *testing.B) {
	const secret = "the-secret-of-this-registry"
	s := scene{containers: 200, latency: 30 * time.Millisecond}
	f := s.fleet(b)
	started := time.Now()
	d := install(b, append(f.env(), "DOGWATCH_LOG_LEVEL=info", "DOGWATCH_WEBHOOKS_SECRETS=lab="+secret)...).start()
	d.checked(started)
	f.counts()
	m := medians{}
	for i := range min(b.N, s.containers) {
		tag := fmt.Sprintf("1.0.%d", i+1)
		f.registry(i).Push(f.repo(i), tag)
		pushed := time.Now()
		deliver(b, d, secret, f.hosts[i%sceneHosts]+"/"+f.repo(i))
		id := named(b, d.containers(), fmt.Sprintf("c%04d", i)).ID
		within(b, 10*time.Second, tag+" is offered", func() bool {
			_, body := d.request(http.MethodGet, "/api/containers/"+id, "")
			return strings.Contains(string(body), `"updateAvailable":true`)
		})
		m.add("ms-to-result", milliseconds(time.Since(pushed)))
		m.add("requests", float64(f.counts().Total))
	}
	d.stop()
	m.report(b)
}

// deliver says to a webhook that an image was pushed.
func deliver(t testing.TB, d *daemon, secret, image string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/api/webhooks/lab",
		strings.NewReader(fmt.Sprintf(`{"image":%q}`, image)))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("a delivery is answered with %s", resp.Status)
	}
}
