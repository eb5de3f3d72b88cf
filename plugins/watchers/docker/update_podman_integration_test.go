package docker

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/dogwatch/dogwatch/plugins/watchers/docker/dockertest"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/podman"
	"github.com/dogwatch/dogwatch/plugins/watchers/docker/internal/replace"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// The images of a lab of Podman.
const (
	podmanOld = "localhost/app:1"
	podmanNew = "localhost/app:2"
)

func newPodmanLab(t *testing.T) *lab {
	t.Helper()
	engine := dockertest.StartPodman(t)
	l := &lab{Daemon: engine, docker: watch(t, Options{
		Connection: Connection{Socket: engine.Host}, Update: true, Keep: 0,
	})}
	l.docker.updater.Liveness = soon
	l.old = engine.Image(t, podmanOld, "ENV LEVEL=info", "LABEL version=1", "VOLUME /data", `CMD ["one"]`)
	l.new = engine.Image(t, podmanNew, "ENV LEVEL=warn", "LABEL version=2", "VOLUME /data", `CMD ["two"]`)
	return l
}

// podman runs the podman command, which must succeed, and returns what it prints.
func (l *lab) podman(t *testing.T, args ...string) string {
	t.Helper()
	command := l.Podman(args...)
	command.Env = append(command.Env, "TOKEN=geheimnis")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("podman %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// podmanRequest is an update to the new image.
func (l *lab) podmanRequest(t *testing.T, name string) watcher.UpdateRequest {
	t.Helper()
	return watcher.UpdateRequest{
		ContainerID: l.inspect(t, name).ID, Image: watcher.TargetImage{Reference: podmanNew, ID: l.new},
	}
}

// native is what "podman inspect" says.
func (l *lab) native(t *testing.T, name string) json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	text, err := l.Podman("container", "inspect", name).Output()
	check(t, err)
	check(t, json.Unmarshal(text, &all))
	return all[0]
}

// carryOut plans an update, and carries it out.
func (l *lab) carryOut(t *testing.T, req watcher.UpdateRequest, operation string) watcher.Outcome {
	t.Helper()
	out, err := l.docker.Apply(t.Context(), watcher.Operation{
		ID: operation, Request: req, Plan: l.plan(t, req),
	}, &journal{})
	check(t, err)
	return out
}

func podmanSettings() map[string]string {
	return map[string]string{
		"plain": "",
		"process": "-e MINE=1 --env TERM=vt100 --unsetenv LEVEL -l mine=1 --label version=own --annotation a=b -u 1000:1000 " +
			"-w /data -h own --group-add 44 -it --entrypoint /main --umask 0077 --tz UTC --timeout 1000 | own words",
		"limits": "-m 64m --memory-reservation 32m --memory-swap 128m --cpus 0.5 --pids-limit 50 -c 512 --shm-size 10m " +
			"--ulimit nofile=1000:1001 --ulimit nproc=1024:1024 --oom-score-adj 100 --cpuset-cpus 0 --cgroup-parent /own",
		"security": "--cap-add NET_ADMIN,SYS_TIME --cap-drop MKNOD --security-opt no-new-privileges " +
			"--security-opt seccomp=unconfined --security-opt label=disable --device /dev/null:/dev/own:rw",
		"read-only": "--cap-drop all --cap-add chown --read-only --sysctl net.ipv4.ip_unprivileged_port_start=0",
		"no tmpfs":  "--read-only --read-only-tmpfs=false", "privileged": "--privileged",
		"mounts": "-v own:/own:ro -v /tmp:/host:ro,z -v /unnamed --tmpfs /cache:size=1m --mount type=volume,source=other," +
			"destination=/other --mount type=tmpfs,destination=/t,tmpfs-size=1m " +
			"--mount type=image,source=localhost/app:1,destination=/image",
		"end": "--health-cmd /main --health-interval 5s --health-retries 2 --health-on-failure kill --restart on-failure:3 " +
			"--stop-timeout 3 --stop-signal SIGQUIT --log-driver k8s-file --log-opt max-size=10m --sdnotify ignore",
		"nothing": "--no-healthcheck --restart=always --log-driver none --systemd=false --no-hosts", "systemd": "--systemd always",
		"network": "--network front:alias=one,ip=10.97.9.7,mac=02:11:22:33:44:55 -p 127.0.0.1:18097:80 -p 19000:9000/udp",
		"names": "--network front --ip 10.97.9.8 --mac-address 02:11:22:33:44:56 --network-alias two --dns 192.0.2.1 " +
			"--dns-search example.org --dns-option ndots:1 --add-host db:192.0.2.2",
		"networks": "--network front --network back:alias=three", "host network": "--network host",
		"host": "--pid host --ipc host --uts host", "pod": "--pod home", "joined": "--network container:base",
		"secrets": "--secret password,target=pw,uid=5,mode=0400 --secret password,type=env,target=PW",
	}
}

// TestPodmanKeepsSettings updates containers of "podman create" twice, and holds each against one that the same
// command makes from the new image.
func TestPodmanKeepsSettings(t *testing.T) {
	t.Parallel()
	l := newPodmanLab(t)
	l.podman(t, "network", "create", "--subnet", "10.97.9.0/24", "front")
	l.podman(t, "network", "create", "--subnet", "10.97.10.0/24", "back")
	l.podman(t, "secret", "create", "--env=true", "password", "TOKEN")
	l.podman(t, "pod", "create", "--name", "home", "--network", "none", "--infra-image", podmanOld, "--infra-command", "/main")
	defer l.podman(t, "pod", "rm", "-f", "home")
	l.podman(t, "run", "-d", "--name", "base", "--network", "none", podmanOld)
	l.podman(t, "pod", "start", "home")
	for _, name := range slices.Sorted(maps.Keys(podmanSettings())) {
		t.Run(name, func(t *testing.T) {
			flags, command, _ := strings.Cut(podmanSettings()[name], "|")
			made := func(name, image string) []string {
				args := append([]string{"create", "--name", name}, strings.Fields(flags)...)
				if !strings.Contains(flags, "--network") && !strings.Contains(flags, "--pod") {
					args = append(args, "--network=none")
				}
				return append(append(args, image), strings.Fields(command)...)
			}
			defer l.podman(t, "rm", "-f", "-i", "web", "fresh")
			l.podman(t, made("web", podmanOld)...)
			for _, operation := range []string{"op1", "op2"} {
				req := l.podmanRequest(t, "web")
				if out := l.carryOut(t, req, operation); out.State != watcher.Updated || len(out.Warnings) > 0 {
					t.Fatalf("%s: %+v", operation, out)
				}
			}
			l.podman(t, made("fresh", podmanNew)...)
			got, want := l.native(t, "web"), l.native(t, "fresh")
			differ, err := podman.Differences(want, got)
			differ = slices.DeleteFunc(differ, func(d string) bool { return d == "mount /data" || d == "mount /unnamed" })
			if check(t, err); len(differ) > 0 {
				t.Errorf("differ: %v", differ)
			}
			if g, w := ofImage(t, got), ofImage(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
			if strings.Contains(flags, "front") { // whose bridge would outlive the test
				return
			}
			if g, w := l.runtimeConfig(t, "web"), l.runtimeConfig(t, "fresh"); g != w {
				t.Errorf("for the runtime: %s", lineDiff(w, g))
			}
		})
	}
}

// runtimeConfig returns what Podman has the runtime do for a container, which tells what "podman inspect"
// does not, with each id replaced.
func (l *lab) runtimeConfig(t *testing.T, name string) string {
	t.Helper()
	l.podman(t, "init", name)
	defer l.podman(t, "rm", "-f", name)
	var c struct{ OCIConfigPath, Name string }
	check(t, json.Unmarshal(l.native(t, name), &c))
	text, err := os.ReadFile(c.OCIConfigPath)
	check(t, err)
	var document any
	check(t, json.Unmarshal(text, &document))
	delete(document.(map[string]any)["annotations"].(map[string]any), "io.kubernetes.cri-o.Created")
	text, err = json.MarshalIndent(sortedLists(document), "", " ")
	check(t, err)
	text = regexp.MustCompile(`[0-9a-f]{64}|[0-9a-f]{32}|\b[0-9a-f]{12}\b`).ReplaceAll(text, []byte("ID"))
	return regexp.MustCompile(`/(proc|overlay)/\d+/`).ReplaceAllString(string(text), "/$1/N/")
}

// lineDiff returns the lines that only one of two texts has.
func lineDiff(want, got string) string {
	var all strings.Builder
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			all.WriteString("-" + line)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.Contains(want, line) {
			all.WriteString("+" + line)
		}
	}
	return all.String()
}

// sortedLists sorts lists in decoded JSON that have no order of their own.
func sortedLists(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = sortedLists(value)
		}
	case []any:
		for i, value := range v {
			v[i] = sortedLists(value)
		}
		slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return v
}

// ofImage returns what the image may give to a container.
func ofImage(t *testing.T, document json.RawMessage) string {
	t.Helper()
	var c struct {
		ID     string `json:"Id"`
		Image  string
		Config struct {
			Hostname, User, WorkingDir, StopSignal any
			Env, Cmd                               []string
			Entrypoint, Labels, Healthcheck        any
		}
	}
	check(t, json.Unmarshal(document, &c))
	slices.Sort(c.Config.Env)
	if host, ok := c.Config.Hostname.(string); ok && strings.HasPrefix(c.ID, host) {
		c.Config.Hostname = nil
	}
	c.ID = ""
	text, err := json.Marshal(c)
	check(t, err)
	return string(text)
}

// TestPodmanUpdate updates a running container with a volume, returns from an image that ends, and returns by hand.
func TestPodmanUpdate(t *testing.T) {
	t.Parallel()
	l := newPodmanLab(t)
	l.podman(t, "run", "-d", "--name", "web", "--network", "none", "--restart", "always", "-v", "own:/own", podmanOld)
	before := l.inspect(t, "web")
	bad := l.Image(t, "localhost/app:bad", `ENTRYPOINT ["/missing"]`)
	req := l.podmanRequest(t, "web")
	req.Image = watcher.TargetImage{Reference: "localhost/app:bad", ID: bad}
	out := l.carryOut(t, req, "op1")
	if out.State != watcher.RolledBack || out.Reason.Text == "" {
		t.Errorf("an image that ends: %+v", out)
	}
	l.only(t, "web", l.old)
	if got := l.inspect(t, "web"); got.ID != before.ID {
		t.Errorf("the old container %s came back as %s", before.ID, got.ID)
	}
	req = l.podmanRequest(t, "web")
	req.Rules.Keep = 1 // which Podman's restart policies do not allow
	if out = l.carryOut(t, req, "op2"); out.State != watcher.Updated || len(out.Warnings) > 0 || out.Downtime <= 0 {
		t.Errorf("updated: %+v", out)
	}
	l.only(t, "web", l.new)
	got := l.inspect(t, "web")
	for _, m := range before.Mounts {
		if !slices.ContainsFunc(got.Mounts, func(g container.MountPoint) bool {
			return g.Destination == m.Destination && g.Name == m.Name
		}) {
			t.Errorf("the mount %s is lost: %+v", m.Destination, got.Mounts)
		}
	}
	req = l.podmanRequest(t, "web")
	req.Image = watcher.TargetImage{Reference: podmanOld, ID: l.old}
	if out = l.carryOut(t, req, "op3"); out.State != watcher.Updated {
		t.Errorf("back again: %+v", out)
	}
	l.only(t, "web", l.old)
}

// TestPodmanUpdateOfOnesThatShare updates a container whose network another one has, and one in a pod.
func TestPodmanUpdateOfOnesThatShare(t *testing.T) {
	t.Parallel()
	l := newPodmanLab(t)
	l.podman(t, "run", "-d", "--name", "vpn", "--network", "none", podmanOld)
	l.podman(t, "run", "-d", "--name", "client", "--network", "container:vpn", podmanOld)
	req := l.podmanRequest(t, "vpn")
	if plan := l.plan(t, req); len(plan.Dependents) != 1 || plan.Dependents[0].Name != "client" {
		t.Errorf("dependents: %+v", plan.Dependents)
	}
	if out := l.carryOut(t, req, "op1"); out.State != watcher.Updated || len(out.Warnings) > 0 {
		t.Errorf("%+v", out)
	}
	vpn, client := l.inspect(t, "vpn"), l.inspect(t, "client")
	if vpn.Image != l.new || client.Image != l.old || !client.State.Running ||
		client.HostConfig.NetworkMode.ConnectedContainer() != vpn.ID {
		t.Errorf("client runs %t in the network %s of %s", client.State.Running, client.HostConfig.NetworkMode, vpn.ID)
	}
	l.podman(t, "pod", "create", "--name", "home", "--network", "none", "--infra-image", podmanOld, "--infra-command", "/main")
	defer l.podman(t, "pod", "rm", "-f", "home")
	l.podman(t, "run", "-d", "--name", "app", "--pod", "home", podmanOld)
	if out := l.carryOut(t, l.podmanRequest(t, "app"), "op2"); out.State != watcher.Updated || len(out.Warnings) > 0 {
		t.Errorf("in a pod: %+v", out)
	}
	if members := l.podman(t, "pod", "inspect", "home"); !strings.Contains(members, l.inspect(t, "app").ID) {
		t.Errorf("the new container is not in the pod: %s", members)
	}
}

// TestPodmanRefuses what a new container would lose, without the secrets of the old one.
func TestPodmanRefuses(t *testing.T) {
	t.Parallel()
	l := newPodmanLab(t)
	l.podman(t, "create", "--name", "base", "--network", "none", podmanOld)
	l.podman(t, "pod", "create", "--name", "home", "--network", "none", "--infra-image", podmanOld, "--infra-command", "/main")
	defer l.podman(t, "pod", "rm", "-f", "home")
	for flags, want := range map[string][2]string{
		"--uidmap 0:1000:5000 --gidmap 0:1000:5000": {replace.BlockPodmanSetting, "--gidmap, --uidmap"},
		"--userns=host":                           {replace.BlockPodmanSetting, "--userns"},
		"--device-cgroup-rule c_1:3_rwm":          {replace.BlockPodmanSetting, "--device-cgroup-rule"},
		"--volumes-from base":                     {replace.BlockPodmanSetting, "--volumes-from"},
		"--requires base":                         {replace.BlockPodmanSetting, "--requires"},
		"-v own:/own:U -v /tmp:/over:O":           {replace.BlockPodmanSetting, "own:/own:U, --volume=/tmp:/over:O"},
		"-tPi":                                    {replace.BlockPodmanSetting, "--publish-all"},
		"--security-opt mask=/proc/kcore":         {replace.BlockPodmanSetting, "mask=/proc/kcore"},
		"--passwd-entry x":                        {replace.BlockPodmanSetting, "--passwd-entry"},
		"--log-opt path=/tmp/geheimnis.log":       {replace.BlockPodmanSetting, "--log-opt"},
		"--rm":                                    {replace.BlockRemove, "--rm"},
		"--label PODMAN_SYSTEMD_UNIT=web.service": {replace.BlockQuadletOff, "web.service"},
	} {
		t.Run(flags, func(t *testing.T) {
			args := []string{"create", "--name", "web", "--network", "none", "-e", "TOKEN"}
			for _, f := range strings.Fields(flags) {
				args = append(args, strings.ReplaceAll(f, "_", map[bool]string{true: " ", false: "_"}[strings.HasPrefix(f, "c_")]))
			}
			l.podman(t, append(args, podmanOld)...)
			defer l.podman(t, "rm", "-f", "web")
			l.refused(t, l.podmanRequest(t, "web"), want[0], want[1])
		})
	}
	t.Run("infra", func(t *testing.T) {
		for name := range strings.FieldsSeq(l.podman(t, "ps", "-a", "--format", "{{.Names}}")) {
			if strings.HasSuffix(name, "-infra") {
				l.refused(t, l.podmanRequest(t, name), replace.BlockPodmanInfra, "pod")
			}
		}
	})
	t.Run("unseen", func(t *testing.T) {
		l.Create(t, "web", podmanOld, nil)
		defer l.podman(t, "rm", "-f", "web")
		req := l.podmanRequest(t, "web")
		l.refused(t, req, replace.BlockPodmanUnseen, "acknowledge")
		req.Rules.Acknowledged = []string{replace.BlockPodmanUnseen}
		if out := l.carryOut(t, req, "op2"); out.State != watcher.Updated {
			t.Errorf("acknowledged: %+v", out)
		}
	})
	t.Run("with a secret", func(t *testing.T) { // a user that is not there, which Podman says when it creates nothing
		l.podman(t, "create", "--name", "web", "--network", "none", "-e", "TOKEN", podmanOld)
		defer l.podman(t, "rm", "-f", "web")
		req := l.podmanRequest(t, "web")
		plan := l.plan(t, req)
		text, err := json.Marshal(plan)
		if check(t, err); strings.Contains(string(text), "geheimnis") {
			t.Errorf("the plan has the secret: %s", text)
		}
	})
}

// refused checks that a plan is blocked, by a text, and that nothing changes.
func (l *lab) refused(t *testing.T, req watcher.UpdateRequest, code, text string) {
	t.Helper()
	plan, err := l.docker.Plan(t.Context(), req)
	check(t, err)
	if got := codes(plan.Blocks); got != code || !strings.Contains(plan.Blocks[0].Text, text) {
		t.Errorf("blocks %+v, want %s with %q", plan.Blocks, code, text)
	}
	if all, err := json.Marshal(plan); err != nil || strings.Contains(string(all), "TOKEN=") {
		t.Errorf("the plan has a secret: %s, %v", all, err)
	}
	out, err := l.docker.Apply(t.Context(), watcher.Operation{ID: "op1", Request: req, Plan: plan}, &journal{})
	check(t, err)
	if out.State != watcher.Unchanged || out.Reason.Code != code {
		t.Errorf("%+v", out)
	}
}

// TestPodmanUpdateInterrupted stops the host at calls of the journal. Exactly one container is left.
func TestPodmanUpdateInterrupted(t *testing.T) {
	t.Parallel()
	l := newPodmanLab(t)
	chosen := dockertest.Moments(t, 2, 0)
	for call, updated := 1, false; !updated; call++ {
		req, op := watcher.UpdateRequest{}, watcher.Operation{}
		if !chosen(call) {
			continue
		}
		l.podman(t, "run", "-d", "--name", "web", "--network", "none", podmanOld)
		req = l.podmanRequest(t, "web")
		op = watcher.Operation{ID: "op1", Request: req, Plan: l.plan(t, req)}
		j := &journal{failAt: call, fail: errGone}
		out, err := l.docker.Apply(t.Context(), op, j)
		if err != nil {
			op.Steps = j.steps
			out, err = l.docker.Recover(t.Context(), op, &journal{steps: slices.Clone(j.steps)})
			check(t, err)
		}
		updated = call > len(op.Plan.Steps)*2
		image := l.old
		if out.State == watcher.Updated {
			image = l.new
		}
		l.only(t, "web", image)
		t.Logf("call %d: %s (%s)", call, out.State, out.Reason.Code)
		l.podman(t, "rm", "-f", "web")
	}
}
