package quadlet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"

	"github.com/dogwatch/dogwatch/sdk"
)

// SystemBus is where the systemd of the machine is, as root has it.
const SystemBus = "unix:path=/run/dbus/system_bus_socket"

// Systemd is a connection to a systemd by D-Bus: https://www.freedesktop.org/wiki/Software/systemd/dbus/.
type Systemd struct{ conn *dbus.Conn }

// Dial connects to the systemd on the bus at an address, for as long as ctx. The caller closes it.
func Dial(ctx context.Context, address string) (*Systemd, error) {
	conn, err := dbus.NewConnection(func() (*godbus.Conn, error) {
		conn, err := godbus.Connect(address, godbus.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		return conn, nil
	})
	if err != nil {
		return nil, fmt.Errorf("connect to systemd at %s: %w: %w", address, err, sdk.ErrUnavailable)
	}
	return &Systemd{conn}, nil
}

// Close ends the connection.
func (s *Systemd) Close() { s.conn.Close() }

// Source returns the file that a unit was generated from, the quadlet; "" for a unit that was not generated.
func (s *Systemd) Source(ctx context.Context, unit string) (string, error) {
	properties, err := s.conn.GetUnitPropertiesContext(ctx, unit)
	if err != nil {
		return "", fmt.Errorf("ask systemd for %s: %w", unit, err)
	}
	path, _ := properties["SourcePath"].(string)
	return path, nil
}

// Reload has systemd generate the units from their quadlets again, as systemctl daemon-reload does.
func (s *Systemd) Reload(ctx context.Context) error {
	if err := s.conn.ReloadContext(ctx); err != nil {
		return fmt.Errorf("reload systemd: %w", err)
	}
	return nil
}

// alive is how often the connection is looked at while a job is waited for: one that is lost tells no result.
const alive = time.Second

// Restart restarts a unit, or starts it, and returns once it is up. One that failed too often before is started too.
func (s *Systemd) Restart(ctx context.Context, unit string) error {
	_ = s.conn.ResetFailedUnitContext(ctx, unit) // a unit that has not failed may be an error
	result := make(chan string, 1)
	if _, err := s.conn.RestartUnitContext(ctx, unit, "replace", result); err != nil {
		return fmt.Errorf("restart %s: %w", unit, err)
	}
	for {
		select {
		case r := <-result:
			if r != "done" {
				return fmt.Errorf("restart %s: the job ended with %q: see journalctl -u %s", unit, r, unit)
			}
			return nil
		case <-ctx.Done():
			return fmt.Errorf("restart %s: %w", unit, context.Cause(ctx))
		case <-time.After(alive):
			if !s.conn.Connected() {
				return errors.Join(fmt.Errorf("restart %s: the connection to systemd was lost", unit), sdk.ErrUnavailable)
			}
		}
	}
}
