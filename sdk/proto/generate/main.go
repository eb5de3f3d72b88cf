// Command generate writes the Go code of the plugin protocol, with protoc from
// the PATH and the code generators pinned in go.mod, and the descriptors that plugins
// in Python read.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	dir, err := os.MkdirTemp("", "protoc")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, tool := range []string{"google.golang.org/protobuf/cmd/protoc-gen-go",
		"google.golang.org/grpc/cmd/protoc-gen-go-grpc"} {
		if err := run("go", "build", "-o", filepath.Join(dir, filepath.Base(tool)), tool); err != nil {
			return err
		}
	}
	err = run("protoc", "--include_imports", "--descriptor_set_out=../../python/dogwatch_plugin/protocol.binpb",
		"plugin.proto", "health.proto", "controller.proto", "details.proto")
	if err != nil {
		return err
	}
	return run("protoc",
		"--plugin", filepath.Join(dir, "protoc-gen-go"), "--plugin", filepath.Join(dir, "protoc-gen-go-grpc"),
		"--go_out=paths=source_relative:.", "--go-grpc_out=paths=source_relative:.", "plugin.proto")
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
