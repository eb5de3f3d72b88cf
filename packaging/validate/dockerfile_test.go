package validate

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// TestFullImageRunsAsTheSmallOne: the Dockerfile of the image with a shell has the program of the other image, and its
// user, port and health check; packaging/image is where those are.
func TestFullImageRunsAsTheSmallOne(t *testing.T) {
	file, err := os.Open("../docker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	stages, bases, err := instructions.Parse(parsed.AST, nil)
	if err != nil || len(parsed.Warnings) > 0 || len(stages) != 2 {
		t.Fatalf("%d stages, %v, %+v", len(stages), err, parsed.Warnings)
	}
	var got []string
	for _, base := range bases {
		for _, arg := range base.Args {
			got = append(got, arg.Key+"="+arg.ValueString())
		}
	}
	for _, stage := range stages {
		got = append(got, "FROM "+stage.BaseName)
		for _, command := range stage.Commands {
			switch c := command.(type) {
			case *instructions.CopyCommand:
				got = append(got, "COPY "+c.From+strings.Join(c.SourcePaths, " ")+" "+c.DestPath)
			case *instructions.HealthCheckCommand:
				got = append(got, "HEALTHCHECK "+strings.Join(c.Health.Test, " "))
				if h := c.Health; h.Interval != 30*time.Second || h.Timeout != 5*time.Second ||
					h.StartPeriod != 10*time.Second || h.Retries != 3 {
					t.Errorf("the health check is %+v", h)
				}
			case *instructions.RunCommand:
				// A list of packages that is not of the same layer is an old one when the layer is built again.
				if run := strings.Join(c.CmdLine, " "); !strings.Contains(run, "apt-get update") ||
					!strings.Contains(run, "--no-install-recommends") || !strings.Contains(run, "rm -rf /var/lib/apt/lists/*") {
					t.Errorf("packages are installed by %s", run)
				}
			default:
				got = append(got, command.(interface{ String() string }).String())
			}
		}
	}
	want := []string{
		"DOGWATCH=ghcr.io/dogwatch/dogwatch:latest", "DEBIAN=debian:13-slim", "FROM ${DOGWATCH}", "FROM ${DEBIAN}",
		"COPY dogwatch/bin/dogwatch /usr/local/bin/dogwatch", "ENV HOME=/store", "USER 1000:1000", "EXPOSE 3000",
		"HEALTHCHECK CMD dogwatch healthcheck", `ENTRYPOINT ["dogwatch"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
