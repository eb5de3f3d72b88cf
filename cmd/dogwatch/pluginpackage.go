package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/artifact"
	"github.com/dogwatch/dogwatch/internal/program"
)

// signPassword is the variable with the password of an encrypted private key.
const signPassword = "DOGWATCH_SIGN_PASSWORD"

// packageFlags are the flags of package.
type packageFlags struct {
	name, version, push, output, sign string
	timeout                           time.Duration
}

func newPluginPackage(g *global) *cobra.Command {
	var f packageFlags
	cmd := &cobra.Command{
		Use:   "package FILE…",
		Short: "Make an artifact of a plugin of your own",
		Long: `Makes an OCI artifact of the executables of a plugin, one for each platform, and pushes
it to a registry, with the login that the configuration has for it, or writes it as
the folder of an OCI layout. dogwatch plugin install takes it from there.

The platform follows from the file; where it does not, write it in front:
linux/arm/v7=FILE. The one for this system is started for a moment to learn its version,
its types and the capabilities it wants. With --sign each executable is signed with a
private key of minisign; if that is encrypted, DOGWATCH_SIGN_PASSWORD has its password.`,
		Example: `  # into a registry, for two platforms, signed
  dogwatch plugin package dist/trigger-lamp-1.0.0-linux-amd64 dist/trigger-lamp-1.0.0-linux-arm64 --name trigger-lamp --push ghcr.io/me/trigger-lamp:1.0.0 --sign ~/.minisign/minisign.key

  # into a folder
  dogwatch plugin package plugins/trigger-lamp --output lamp-oci`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.packagePlugin(cmd.Context(), f, args) },
	}
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the plugin (default: the file's, without version and platform)")
	cmd.Flags().StringVar(&f.version, "version", "", "`version` of the plugin (default: what it says)")
	cmd.Flags().StringVar(&f.push, "push", "", "push it to this `reference`, such as ghcr.io/me/trigger-lamp:1.0.0")
	cmd.Flags().StringVar(&f.output, "output", "", "write the `folder` of an OCI layout")
	cmd.Flags().StringVar(&f.sign, "sign", "", "`file` of a private key of minisign")
	cmd.Flags().DurationVar(&f.timeout, "timeout", fetchLimit, "longest `time` for all of it")
	_ = cmd.MarkFlagDirname("output")
	_ = cmd.MarkFlagFilename("sign")
	return cmd
}

func (g *global) packagePlugin(ctx context.Context, f packageFlags, files []string) error {
	if (f.push == "") == (f.output == "") {
		return usage(errors.New("say where to: --push REF or --output FOLDER"))
	}
	cfg, err := g.load(nil)
	if err != nil {
		return err
	}
	logins, err := g.registryLogins(cfg)
	if err != nil {
		return err
	}
	defer logins.Close()
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	signer, err := readSigner(f.sign)
	if err != nil {
		return err
	}
	all, err := g.builtFiles(ctx, cfg, logins, f, files)
	if err != nil {
		return err
	}
	digest, where, err := deliverPackage(ctx, logins, f, all, signer)
	if err != nil {
		return errors.New(logins.redactor.String(err.Error()))
	}
	fmt.Fprintf(g.stdout, "%s\ndigest: %s\n", where, digest)
	if signer != nil {
		fmt.Fprintf(g.stdout, "key:    %s\n", signer.Key().Text())
	}
	return nil
}

func deliverPackage(
	ctx context.Context, logins *registryLogins, f packageFlags, all []artifact.Built, signer *artifact.Signer,
) (digest, where string, err error) {
	if f.output != "" {
		digest, err = artifact.WriteLayout(ctx, f.output, cmp.Or(artifact.TagOf(all[0].Version), "latest"), all, signer)
		return digest, "wrote " + f.output, err
	}
	source, err := artifact.ParseSource("oci://" + strings.TrimPrefix(f.push, "oci://"))
	if err != nil {
		return "", "", usage(fmt.Errorf("--push: %w", err))
	}
	if err := artifact.CheckTag(source.Image.Tag, all[0].Version); err != nil {
		return "", "", usage(fmt.Errorf("--push: nobody could install it from there: %w", err))
	}
	digest, err = artifact.Push(ctx, logins, userAgent(), *source.Image, all, signer)
	return digest, "pushed " + source.String(), err
}

func readSigner(file string) (*artifact.Signer, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	password := os.Getenv(signPassword)
	if artifact.Encrypted(data) && password == "" {
		return nil, fmt.Errorf("the private key %s is encrypted: set %s", file, signPassword)
	}
	s, err := artifact.NewSigner(data, password)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// platformEnd is what build.sh puts behind the name of a plugin.
var platformEnd = regexp.MustCompile(`(-v?\d[\w.+]*)?-(linux|darwin|windows|freebsd)-\w+(\.exe)?$`)

// builtFiles reads the arguments of package and completes them with what the plugin
// says of itself.
func (g *global) builtFiles(
	ctx context.Context, cfg *config.Config, logins *registryLogins, f packageFlags, files []string,
) ([]artifact.Built, error) {
	var all []artifact.Built
	native := -1
	here := artifact.Here()
	for i, file := range files {
		b := artifact.Built{File: file}
		platform, rest, written := strings.Cut(file, "=")
		if p, err := artifact.ParsePlatform(platform); written && err == nil {
			b.File, b.Platform = rest, p.String()
		} else {
			found, err := artifact.PlatformOf(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			b.Platform = found
		}
		for _, other := range all {
			if other.Platform == b.Platform {
				return nil, usage(fmt.Errorf("%s and %s are both for %s", other.File, b.File, cmp.Or(b.Platform, "any platform")))
			}
		}
		if b.Platform == "" || strings.HasPrefix(b.Platform, here.OS+"/"+here.Arch) && native < 0 {
			native = i
		}
		all = append(all, b)
	}
	name := cmp.Or(f.name, platformEnd.ReplaceAllString(filepath.Base(all[0].File), ""))
	if err := artifact.CheckName(name); err != nil {
		return nil, usage(err)
	}
	described := artifact.Plugin{}
	if native >= 0 {
		var err error
		if described, err = describeCopy(ctx, cfg, all[native].File, name, logins); err != nil {
			return nil, fmt.Errorf("%s does not start as a plugin: %w", all[native].File, err)
		}
	} else {
		fmt.Fprintf(g.stderr,
			"none of the files is for %s: the artifact will not say which types the plugin holds and what it wants\n", here)
	}
	for i := range all {
		platform := all[i].Platform
		all[i].Plugin = described
		all[i].Name, all[i].Version, all[i].Platform = name, cmp.Or(f.version, described.Version), platform
	}
	if all[0].Version == "" {
		return nil, usage(errors.New("the plugin does not say its version: give --version"))
	}
	return all, nil
}

// describeCopy describes a copy of a file, in a folder that is this user's alone.
func describeCopy(
	ctx context.Context, cfg *config.Config, file, name string, logins *registryLogins,
) (p artifact.Plugin, err error) {
	dir, err := os.MkdirTemp("", "dogwatch-package-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // plugins may run as another user
		return p, err
	}
	if err := program.Copy(file, filepath.Join(dir, name)); err != nil {
		return p, err
	}
	return describeFile(ctx, cfg, dir, name, logins.log, logins.redactor)
}
