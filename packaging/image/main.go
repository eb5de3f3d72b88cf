// Command image makes the container image of Dogwatch from programs that are built already, one for each platform:
// as the folder of an OCI layout, in a registry, or as an archive that docker load reads. It needs no container engine,
// and makes the same image of the same programs anywhere.
//
//	sh cmd/dogwatch/build.sh /tmp/dogwatch
//	go run ./packaging/image -version 1.2.3 -push ghcr.io/me/dogwatch:1.2.3 /tmp/dogwatch
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run makes the image and prints its digest, or the archive if that is asked for.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	version := flags.String("version", "dev", "`version` that its labels say")
	folder := flags.String("layout", "", "write the `folder` of an OCI layout")
	archive := flags.String("archive", "", "print an archive of the image under this `name`; of one program only")
	var push []name.Reference
	flags.Func("push", "push it to this `reference`; may be repeated", func(s string) error {
		ref, err := name.ParseReference(s)
		push = append(push, ref)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	programs, err := readPrograms(flags.Args())
	if err != nil {
		return err
	}
	if *archive != "" {
		return writeArchive(out, *archive, *version, programs)
	}
	if *folder == "" && len(push) == 0 {
		return errors.New("say where to: -layout, -push or -archive")
	}
	index, err := newIndex(*version, programs)
	if err != nil {
		return err
	}
	if *folder != "" {
		if err := writeLayout(*folder, *version, index); err != nil {
			return fmt.Errorf("write the layout %s: %w", *folder, err)
		}
	}
	for _, ref := range push {
		err := remote.WriteIndex(ref, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
		if err != nil {
			return fmt.Errorf("push %s: %w", ref, err)
		}
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, digest)
	return err
}

func writeLayout(folder, version string, index v1.ImageIndex) error {
	// A layout that is there keeps what it has: neither is thrown away nor mixed.
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
}

func writeArchive(out io.Writer, as, version string, programs []program) error {
	tag, err := name.NewTag(as)
	if err != nil {
		return err
	}
	if len(programs) > 1 {
		return errors.New("an archive has one program: an engine loads that of its platform only")
	}
	image, err := newImage(version, programs[0])
	if err != nil {
		return err
	}
	return tarball.Write(tag, image, out)
}
