// Package validate tests what is packaged with the tools of its formats.
package validate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const chartFolder = "../helm/dogwatch"

// cases are files of values, by name: a case is valid, and what it says is what the chart makes of it.
func cases(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	files, err := filepath.Glob("testdata/values/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		if err := yaml.UnmarshalStrict(text, &values); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = values
	}
	return all
}

// TestChartHasNoFindings: helm lint has nothing to complain about, whatever is set.
func TestChartHasNoFindings(t *testing.T) {
	for name, values := range cases(t) {
		for _, m := range lint.RunAll(chartFolder, values, "default").Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

// rendered is what the chart makes of values: objects by their kind, and the notes.
type rendered struct {
	objects map[string]runtime.Object
	// rights are what roles allow, each as "media patch deployments", or "tools patch leases dogwatch" of one object; "*"
	// is in all namespaces.
	rights  []string
	monitor *serviceMonitor
	notes   string
}

// serviceMonitor has the fields of monitoring.coreos.com/v1 that the chart may write.
type serviceMonitor struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		Endpoints []struct {
			Port          string `json:"port"`
			Path          string `json:"path"`
			Interval      string `json:"interval"`
			Authorization *struct {
				Credentials core.SecretKeySelector `json:"credentials"`
			} `json:"authorization"`
		} `json:"endpoints"`
	} `json:"spec"`
}

func render(values map[string]any) (rendered, error) {
	r := rendered{objects: map[string]runtime.Object{}}
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		return r, err
	}
	release := common.ReleaseOptions{Name: "dogwatch", Namespace: "tools", IsInstall: true, Revision: 1}
	all, err := util.ToRenderValues(chart, values, release, common.DefaultCapabilities)
	if err != nil {
		return r, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return r, err
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		text := strings.TrimSpace(files[file])
		switch {
		case strings.HasSuffix(file, "NOTES.txt"):
			r.notes = text
		case text == "" || strings.HasSuffix(file, ".tpl"):
		case strings.HasSuffix(file, "servicemonitor.yaml"):
			r.monitor = &serviceMonitor{}
			if err := yaml.UnmarshalStrict([]byte(text), r.monitor); err != nil {
				return r, fmt.Errorf("%s: %w\n%s", file, err, text)
			}
		default:
			for document := range strings.SplitSeq(strings.TrimSuffix(text, "---"), "\n---\n") {
				object, kind, err := decoder.Decode([]byte(document), nil, nil)
				if err != nil {
					return r, fmt.Errorf("%s: %w\n%s", file, err, document)
				}
				r.objects[kind.Kind] = object
				r.rights = append(r.rights, rightsOf(object)...)
			}
		}
	}
	return r, nil
}

// rightsOf returns what a role allows.
func rightsOf(object runtime.Object) (rights []string) {
	add := func(namespace string, rules []rbac.PolicyRule) {
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					right := namespace + " " + verb + " " + resource
					if len(rule.ResourceNames) > 0 {
						right += " " + strings.Join(rule.ResourceNames, ",")
					}
					rights = append(rights, right)
				}
			}
		}
	}
	switch role := object.(type) {
	case *rbac.Role:
		add(role.Namespace, role.Rules)
	case *rbac.ClusterRole:
		add("*", role.Rules)
	}
	return rights
}

func rendering(t *testing.T, values map[string]any) rendered {
	t.Helper()
	r, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r rendered) pod() core.PodSpec {
	return r.objects["Deployment"].(*apps.Deployment).Spec.Template.Spec
}

// environment returns the variables of the container that are not taken from Secrets.
func (r rendered) environment() map[string]string {
	all := map[string]string{}
	for _, v := range r.pod().Containers[0].Env {
		all[v.Name] = v.Value
	}
	return all
}

// TestChartIsSafe: whatever is set, the pod has no right that Dogwatch does not need, and what it mounts is there.
func TestChartIsSafe(t *testing.T) {
	for name, values := range cases(t) {
		r := rendering(t, values)
		spec, pod := r.objects["Deployment"].(*apps.Deployment).Spec, r.pod()
		own, all := pod.Containers[0].SecurityContext, pod.SecurityContext
		for what, ok := range map[string]bool{
			"one pod at a time": *spec.Replicas == 1 && spec.Strategy.Type == apps.RecreateDeploymentStrategyType,
			"no token, or rights for it": *pod.AutomountServiceAccountToken == (len(r.rights) > 0) &&
				(pod.ServiceAccountName != "") == (len(r.rights) > 0),
			"no links to services":  !*pod.EnableServiceLinks, // DOGWATCH_PORT=tcp://… would be a setting
			"a user":                *all.RunAsNonRoot && *all.RunAsUser == 1000 && *all.FSGroup == 1000,
			"seccomp":               all.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault,
			"read-only":             *own.ReadOnlyRootFilesystem,
			"no more rights":        !*own.AllowPrivilegeEscalation && own.Privileged == nil,
			"no capabilities":       fmt.Sprint(*own.Capabilities) == "{[] [ALL]}",
			"no part of the host":   !pod.HostNetwork && !pod.HostPID && !pod.HostIPC,
			"a limit of its memory": !pod.Containers[0].Resources.Limits.Memory().IsZero(),
		} {
			if !ok {
				t.Errorf("%s: without %s", name, what)
			}
		}
		var volumes, mounts []string
		for _, v := range pod.Volumes {
			volumes = append(volumes, v.Name)
			if v.HostPath != nil {
				t.Errorf("%s: %s is a folder of the node", name, v.Name)
			}
		}
		for _, m := range pod.Containers[0].VolumeMounts {
			mounts = append(mounts, m.Name)
		}
		if slices.Sort(volumes); !slices.Equal(volumes, slices.Sorted(slices.Values(mounts))) {
			t.Errorf("%s: volumes %q, mounts %q", name, volumes, mounts)
		}
		selects(t, name, r)
	}
}

// selects: the Service has the pod, and the Ingress and the ServiceMonitor have the Service.
func selects(t *testing.T, name string, r rendered) {
	t.Helper()
	service, template := r.objects["Service"].(*core.Service), r.objects["Deployment"].(*apps.Deployment).Spec.Template
	for key, value := range service.Spec.Selector {
		if template.Labels[key] != value {
			t.Errorf("%s: the service does not select the pod by %s", name, key)
		}
	}
	if ports := template.Spec.Containers[0].Ports; service.Spec.Ports[0].TargetPort.StrVal != ports[0].Name {
		t.Errorf("%s: the service has no port of the pod: %v", name, service.Spec.Ports)
	}
	if ingress, is := r.objects["Ingress"].(*networking.Ingress); is {
		backend := ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service
		if backend.Name != service.Name || backend.Port.Name != service.Spec.Ports[0].Name {
			t.Errorf("%s: the ingress leads to %v", name, backend)
		}
	}
	if r.monitor != nil {
		for key, value := range r.monitor.Spec.Selector.MatchLabels {
			if service.Labels[key] != value {
				t.Errorf("%s: the monitor does not select the service by %s", name, key)
			}
		}
		if r.monitor.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name {
			t.Errorf("%s: the monitor asks %v", name, r.monitor.Spec.Endpoints)
		}
	}
}

// TestChartConfigures: what values say is what Dogwatch reads, and it has no complaint about that.
func TestChartConfigures(t *testing.T) {
	program, secrets := built(t), inSecrets(t)
	for name, values := range cases(t) {
		r := rendering(t, values)
		folder := t.TempDir()
		cmd := exec.CommandContext(t.Context(), program, "config", "validate")
		cmd.Dir = folder
		if config, is := r.objects["ConfigMap"].(*core.ConfigMap); is {
			write(t, filepath.Join(folder, "dogwatch.yaml"), []byte(config.Data["dogwatch.yaml"]))
			cmd.Args = append(cmd.Args, "--config", "dogwatch.yaml")
		}
		environment := r.environment()
		if secret, is := r.objects["Secret"].(*core.Secret); is {
			maps.Copy(environment, secret.StringData)
		}
		if len(r.rights) > 0 { // what a pod has
			for file, text := range map[string][]byte{"token": []byte("token"), "ca.crt": secrets["ca.pem"]} {
				write(t, filepath.Join(folder, file), text)
			}
			environment["DOGWATCH_WATCHER_KUBERNETES_CLUSTER_ACCOUNT"] = folder
		}
		cmd.Env = []string{"HOME=" + folder}
		for key, value := range environment {
			// What a Secret holds is not here.
			if path, is := strings.CutPrefix(value, "/run/"); is {
				value = filepath.Join(folder, filepath.Base(path))
				write(t, value, secrets[filepath.Base(path)])
			}
			cmd.Env = append(cmd.Env, key+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "no problems") {
			t.Errorf("%s: %v\n%s\n%v", name, err, out, environment)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// inSecrets returns what the Secrets of cases have, by the names of the files.
func inSecrets(t *testing.T) map[string][]byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	return map[string][]byte{
		"hash":   []byte("$2a$10$1skjScRGJ/sYKX66I41OL.MPFKbgrAnmFfgEgW6FrRXhfTJoSP8nK\n"),
		"ca.pem": public, "cert.pem": public,
		"key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

// built returns the program.
func built(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("DOGWATCH_TEST_PROGRAM"); program != "" {
		return program
	}
	program := filepath.Join(t.TempDir(), "dogwatch")
	build := exec.CommandContext(t.Context(), "sh", "../../cmd/dogwatch/build.sh", program)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestChartMakesWhatValuesSay: the parts that only some have.
func TestChartMakesWhatValuesSay(t *testing.T) {
	all := cases(t)
	least, most := rendering(t, all["least"]), rendering(t, all["most"])
	want := []string{"Deployment", "PersistentVolumeClaim", "Service"}
	if kinds := slices.Sorted(maps.Keys(least.objects)); !slices.Equal(kinds, want) {
		t.Errorf("by default: %q", kinds)
	}
	want = []string{"ConfigMap", "Deployment", "Ingress", "PersistentVolumeClaim", "Secret", "Service"}
	if kinds := slices.Sorted(maps.Keys(most.objects)); !slices.Equal(kinds, want) || most.monitor == nil {
		t.Errorf("with everything: %q", kinds)
	}
	if image := least.pod().Containers[0].Image; image != "ghcr.io/dogwatch/dogwatch:latest" {
		t.Errorf("it runs %s", image)
	}
	environment := most.environment()
	for key, value := range map[string]string{
		"DOGWATCH_WATCHER_NAS_HOST": "nas.example.lan", "DOGWATCH_WATCHER_NAS_PORT": "2376",
		"DOGWATCH_WATCHER_NAS_CAFILE":  "/run/engines/nas/ca.pem",
		"DOGWATCH_WATCHER_NAS_KEYFILE": "/run/engines/nas/key.pem",
		"DOGWATCH_WATCHER_PI_HOST":     "192.0.2.7", "DOGWATCH_WATCHER_PI_UPDATE": "true",
		"DOGWATCH_PUBLIC_URL":                 "https://dogwatch.example.org/",
		"DOGWATCH_TRIGGER_TELEGRAM_ME_CHATID": "-1001234567890", // not -1.00123456789e+12
		"DOGWATCH_CHECK_PERHOST":              "2",
		"DOGWATCH_WATCHER_PI_CRON":            "15 4 * * *",
	} {
		if environment[key] != value {
			t.Errorf("%s is %q, want %q", key, environment[key], value)
		}
	}
	for _, value := range environment {
		if strings.Contains(value, "topic-of-mine") {
			t.Error("what is secret stands in the Deployment")
		}
	}
	for where, said := range map[string]bool{
		"no engine":  strings.Contains(least.notes, "Nothing is watched"),
		"no login":   strings.Contains(least.notes, "There is no login"),
		"an address": strings.Contains(most.notes, "https://dogwatch.example.org/"),
	} {
		if !said {
			t.Errorf("the notes do not say: %s\n%s\n%s", where, least.notes, most.notes)
		}
	}
	if strings.Contains(most.notes, "There is no login") || strings.Contains(most.notes, "Nothing is watched") {
		t.Errorf("the notes say too much:\n%s", most.notes)
	}
}

// TestChartGivesLeastRights: to read is all that the account of the pod may do, and where updates are allowed to change
// workloads; namespaces that are named are all in which it may.
func TestChartGivesLeastRights(t *testing.T) {
	all := cases(t)
	reading := func(namespace string) (rights []string) {
		for _, resource := range []string{"deployments", "statefulsets", "daemonsets", "cronjobs", "pods"} {
			rights = append(rights, namespace+" list "+resource, namespace+" watch "+resource)
		}
		return rights
	}
	updating := func(namespace string) (rights []string) {
		for _, resource := range []string{"deployments", "statefulsets", "daemonsets", "cronjobs"} {
			rights = append(rights, namespace+" patch "+resource)
		}
		return append(append(rights, namespace+" get pods/log"), reading(namespace)...)
	}
	for name, want := range map[string][]string{
		"least": nil, "engine": nil, "most": nil,
		"cluster":     append(reading("*"), "* list nodes"),
		"namespaces":  append(updating("media"), updating("tools")...),
		"pullsecrets": append(reading("media"), "media get secrets", "media get serviceaccounts"),
		"lease":       append(reading("*"), "* list nodes", "tools get leases dogwatch", "tools patch leases dogwatch"),
	} {
		r := rendering(t, all[name])
		if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(r.rights)), want) {
			t.Errorf("%s: %q, want %q", name, slices.Sorted(slices.Values(r.rights)), want)
		}
		lease, leases := r.objects["Lease"].(*coordination.Lease)
		if of := r.environment()["DOGWATCH_LEASE_NAME"]; leases != (of != "") || leases && lease.Name != of {
			t.Errorf("%s: lease %v, and Dogwatch is told %q", name, lease, of)
		}
		account, is := r.objects["ServiceAccount"].(*core.ServiceAccount)
		if is != (want != nil) || is && account.Name != r.pod().ServiceAccountName {
			t.Errorf("%s: account %v, and the pod has %q", name, account, r.pod().ServiceAccountName)
		}
		for kind, object := range r.objects {
			var ref rbac.RoleRef
			var subjects []rbac.Subject
			switch binding := object.(type) {
			case *rbac.RoleBinding:
				ref, subjects = binding.RoleRef, binding.Subjects
			case *rbac.ClusterRoleBinding:
				ref, subjects = binding.RoleRef, binding.Subjects
			default:
				continue
			}
			role := r.objects[ref.Kind].(interface{ GetName() string }).GetName()
			if ref.Name != role || len(subjects) != 1 || subjects[0].Name != account.Name || subjects[0].Namespace != "tools" {
				t.Errorf("%s: the %s gives %+v to %+v", name, kind, ref, subjects)
			}
		}
	}
}

// TestChartRefusesMistakes: the schema names what is wrong.
func TestChartRefusesMistakes(t *testing.T) {
	for said, text := range map[string]string{
		"replicas":              "replicas: 2",
		"/cluster/enabled":      "cluster: {lease: true}",
		"/cluster/namespaces/0": "cluster: {enabled: true, namespaces: [Media]}",
		"/watchers/0/host":      "watchers: [{name: nas, host: 'ssh://root@nas'}]",
		"/watchers/0/name":      "watchers: [{name: my nas, host: nas}]",
		"'host'":                "watchers: [{name: nas}]",
		"'secret'":              "watchers: [{name: nas, host: nas, tls: {}}]",
		"/login/secret":         "login: {user: ana}",
		"/ingress/host":         "ingress: {enabled: true}",
		"/image/digest":         "image: {digest: latest}",
		"/persistence/size":     "persistence: {size: large}",
		"dogwatch.trigger.ntfy": "env: {dogwatch.trigger.ntfy: x}",
	} {
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		if _, err := render(values); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
