package dockerconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

const (
	helperPrefix = "docker-credential-"
	// helperTimeout bounds one call of a helper, which may call a service of its own.
	helperTimeout = 10 * time.Second
	// helperGrace is how long a helper that was killed may keep its output open.
	helperGrace     = time.Second
	maxHelperOutput = 64 << 10
	// notFound is what helpers write, with status 1, about a server that they do not know.
	notFound = "credentials not found in native keychain"
)

// runHelper runs a helper and returns the credentials that it has for a server
// (https://github.com/docker/docker-credential-helpers, "Development"): the
// server goes to its input, JSON comes from its output. The zero value means
// that it has none. An error never repeats what the helper wrote.
func runHelper(ctx context.Context, helper, server string, timeout time.Duration) (sdk.Credentials, error) {
	if helper == "" || strings.Trim(helper, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return sdk.Credentials{}, errors.New("the name of a credential helper has only a-z, 0-9 and -")
	}
	name := helperPrefix + helper
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := output{stop: cancel}
	cmd := exec.CommandContext(limited, name, "get")
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = strings.NewReader(server), &out, helperGrace
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return sdk.Credentials{}, ctx.Err()
	case out.full:
		return sdk.Credentials{}, fmt.Errorf("%s says far too much", name)
	case limited.Err() != nil:
		return sdk.Credentials{}, sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("%s gave no answer within %s", name, timeout))
	case errors.Is(err, exec.ErrNotFound):
		return sdk.Credentials{}, sdk.WithKind(exec.ErrNotFound, fmt.Errorf("there is no %s in PATH", name))
	case err != nil && strings.TrimSpace(string(out.text)) == notFound:
		return sdk.Credentials{}, nil
	case err != nil:
		return sdk.Credentials{}, fmt.Errorf("%s failed: %w", name, err)
	}
	var given struct{ Username, Secret string }
	if json.Unmarshal(out.text, &given) != nil || given.Username == "" || given.Secret == "" {
		return sdk.Credentials{}, fmt.Errorf("%s answered with no credentials", name)
	}
	return sdk.Credentials{Username: given.Username, Password: given.Secret}, nil
}

// output keeps what a helper writes, up to a limit at which the helper is stopped.
type output struct {
	text []byte
	stop func()
	full bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.full = o.full || len(o.text)+len(p) > maxHelperOutput; o.full {
		o.stop()
		return len(p), nil
	}
	o.text = append(o.text, p...)
	return len(p), nil
}
