// Command pushchart packs the Helm chart for a version of Dogwatch, and pushes it to a registry, by Helm's own
// packages: the same chart for the same version and time, anywhere. It logs in as Docker does, and prints the digest.
//
//	go run -C packaging/validate ./pushchart -version 1.2.3 -time 2026-01-02T03:04:05Z ghcr.io/dogwatch/charts
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/registry"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pushchart:", err)
		os.Exit(1)
	}
}

// run packs the chart and pushes it, and prints the digest of what was pushed.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("pushchart", flag.ContinueOnError)
	folder := flags.String("chart", "../helm/dogwatch", "`folder` of the chart")
	version := flags.String("version", "", "`version` of the chart, and of the image that it runs")
	at := flags.String("time", "", "`time` at which it was made, that of the commit")
	plain := flags.Bool("plain-http", false, "speak HTTP with the registry")
	if err := flags.Parse(args); err != nil {
		return err
	}
	made, err := time.Parse(time.RFC3339, *at)
	if err != nil || *version == "" || flags.NArg() != 1 {
		return errors.Join(errors.New("say -version, -time, and the folder of a registry to push to"), err)
	}
	packed, err := pack(*folder, *version, made)
	if err != nil {
		return err
	}
	options := []registry.ClientOption{registry.ClientOptWriter(io.Discard)}
	if *plain {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	client, err := registry.NewClient(options...)
	if err != nil {
		return err
	}
	to := flags.Arg(0) + "/dogwatch:" + *version
	pushed, err := client.Push(packed, to, registry.PushOptCreationTime(made.UTC().Format(time.RFC3339)))
	if err != nil {
		return fmt.Errorf("push %s: %w", to, err)
	}
	_, err = fmt.Fprintln(out, pushed.Manifest.Digest)
	return err
}

// pack returns the archive of the chart, all of whose files are of one time.
func pack(folder, version string, made time.Time) ([]byte, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = version, version
	chart.ModTime, chart.SchemaModTime = made, made
	for _, files := range [][]*common.File{chart.Raw, chart.Templates, chart.Files} {
		for _, file := range files {
			file.ModTime = made
		}
	}
	dir, err := os.MkdirTemp("", "chart")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	archive, err := util.Save(chart, dir)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Clean(archive))
}
