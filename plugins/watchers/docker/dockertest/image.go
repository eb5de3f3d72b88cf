package dockertest

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"

	"github.com/dogwatch/dogwatch/internal/buildtest"
)

// source is what the containers run. Without arguments it waits to be stopped; as a
// health check it says what its pattern has at this call, the last letter from then on.
const source = `package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	switch args := append(os.Args[1:], "", ""); args[0] {
	case "serve": // ADDRESS TEXT: writes the text to each connection, until it is stopped
		l, err := net.Listen("tcp", args[1])
		fail(err)
		go func() {
			for {
				conn, err := l.Accept()
				fail(err)
				io.WriteString(conn, args[2])
				conn.Close()
			}
		}()
		wait(0)
	case "get": // ADDRESS: prints what is written to a connection
		conn, err := net.Dial("tcp", args[1])
		fail(err)
		_, err = io.Copy(os.Stdout, conn)
		fail(err)
	case "show": // FILE FILE: prints the files, with their names
		for _, name := range args[1:] {
			text, _ := os.ReadFile(name)
			fmt.Printf("== %s\n%s", name, text)
		}
		wait(0)
	case "slow": // DURATION: takes that long to stop
		d, _ := time.ParseDuration(args[1])
		wait(d)
	case "crash": // VARIABLE: writes 60 lines and the variable to the standard error, and ends with code 3
		for i := range 60 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
		fmt.Fprintln(os.Stderr, "\x1b[31mcannot log in with", os.Getenv(args[1]), "\x1b[0m")
		os.Exit(3)
	case "write": // OUT ERR COUNT: writes two texts, which are quoted as in Go, that often, and waits
		out, err := strconv.Unquote(args[1])
		fail(err)
		bad, err := strconv.Unquote(args[2])
		fail(err)
		count, err := strconv.Atoi(args[3])
		fail(err)
		for range count {
			io.WriteString(os.Stdout, out)
			io.WriteString(os.Stderr, bad)
		}
		wait(0)
	case "falter": // ends with code 3 after half a second when it is started for the first time
		if _, err := os.Stat("/faltered"); err != nil {
			os.WriteFile("/faltered", nil, 0o600)
			fmt.Println("cannot begin")
			time.Sleep(500 * time.Millisecond)
			os.Exit(3)
		}
		wait(0)
	case "health": // PATTERN: h for healthy, u for unhealthy
		calls, _ := os.ReadFile("/calls")
		os.WriteFile("/calls", append(calls, 'x'), 0o600)
		if args[1][min(len(calls), len(args[1])-1)] == 'u' {
			fmt.Println("not today")
			os.Exit(1)
		}
	default:
		wait(0)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func wait(d time.Duration) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
	time.Sleep(d)
}
`

// program compiles source once per test binary.
var program = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "dw")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"main.go": source, "go.mod": "module main\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	binary := filepath.Join(dir, "main")
	if err := buildtest.Program(dir, binary); err != nil {
		return nil, err
	}
	return os.ReadFile(binary)
})

// Image makes an image from scratch, tags it with ref ("" leaves it without a name)
// and returns its id. Changes are Dockerfile instructions, such as "LABEL version=2".
func (d *Daemon) Image(t testing.TB, ref string, changes ...string) string {
	t.Helper()
	return d.ImageWith(t, ref, nil, changes...)
}

// ImageWith makes an image as Image does, with further programs: their content by path.
func (d *Daemon) ImageWith(t testing.TB, ref string, programs map[string][]byte, changes ...string) string {
	t.Helper()
	main, err := program()
	check(t, err)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	add := func(name string, content []byte) {
		check(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}))
		_, err := w.Write(content)
		check(t, err)
	}
	add("main", main)
	for _, path := range slices.Sorted(maps.Keys(programs)) {
		add(strings.TrimPrefix(path, "/"), programs[path])
	}
	check(t, w.Close())
	response, err := d.API.ImageImport(t.Context(), image.ImportSource{Source: &archive, SourceName: "-"}, "",
		image.ImportOptions{Changes: append([]string{`ENTRYPOINT ["/main"]`}, changes...)})
	check(t, err)
	id := lastStatus(t, response)
	if ref != "" { // apart from the import, in which Podman 4 leaves out the tag
		check(t, d.API.ImageTag(t.Context(), id, ref))
	}
	if _, err := d.API.ImageInspect(t.Context(), id); err != nil {
		t.Fatalf("import image: %s: %v", id, err)
	}
	return id
}

// Run creates and starts a container without network, and returns its id.
func (d *Daemon) Run(t testing.TB, name, image string, labels map[string]string) string {
	t.Helper()
	id := d.Create(t, name, image, labels)
	check(t, d.API.ContainerStart(t.Context(), id, container.StartOptions{}))
	return id
}

// Create creates a container without network, and returns its id.
func (d *Daemon) Create(t testing.TB, name, image string, labels map[string]string) string {
	t.Helper()
	created, err := d.API.ContainerCreate(t.Context(),
		&container.Config{Image: image, Labels: labels},
		&container.HostConfig{NetworkMode: network.NetworkNone}, nil, nil, name)
	check(t, err)
	return created.ID
}

// Remove stops and removes a container.
func (d *Daemon) Remove(t testing.TB, name string) {
	t.Helper()
	check(t, d.API.ContainerRemove(t.Context(), name, container.RemoveOptions{Force: true}))
}

// Push pushes a tag to its registry, which takes anonymous pushes on the loopback interface.
func (d *Daemon) Push(t testing.TB, ref string) {
	t.Helper()
	response, err := d.API.ImagePush(t.Context(), ref, image.PushOptions{RegistryAuth: "e30="}) // {}
	check(t, err)
	lastStatus(t, response)
}

// Pull pulls an image.
func (d *Daemon) Pull(t testing.TB, ref string) {
	t.Helper()
	response, err := d.API.ImagePull(t.Context(), ref, image.PullOptions{})
	check(t, err)
	lastStatus(t, response)
}

// lastStatus reads the progress of an operation to its end, and returns the last thing
// it says. An error in the progress fails the test.
func lastStatus(t testing.TB, progress io.ReadCloser) string {
	t.Helper()
	defer progress.Close()
	status := ""
	for decoder := json.NewDecoder(progress); ; {
		var step struct{ Status, Error string }
		err := decoder.Decode(&step)
		switch {
		case errors.Is(err, io.EOF):
			return status
		case err != nil:
			t.Fatal(err)
		case step.Error != "":
			t.Fatal(step.Error)
		case step.Status != "":
			status = step.Status
		}
	}
}
