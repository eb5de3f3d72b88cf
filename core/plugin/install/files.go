package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

func checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// writeSynced writes a new file. What has that name is removed, so that no link is written through.
func writeSynced(dir *os.Root, name string, data []byte) (err error) {
	if err := removeIfThere(dir, name); err != nil {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

func removeIfThere(dir *os.Root, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder makes renames in a folder last. Where folders cannot be synced there is nothing to do.
func syncFolder(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	_ = f.Sync()
	return f.Close()
}

// linkOrCopy gives a file a second name, or makes a copy where the file system has no links.
func linkOrCopy(dir *os.Root, from, to string) (err error) {
	if err := removeIfThere(dir, to); err != nil {
		return err
	}
	if err = dir.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, err := dir.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := dir.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if _, err := io.Copy(target, source); err != nil {
		return err
	}
	return target.Sync()
}

// errBusy: another process changes the folder.
var errBusy = errors.New("another command is installing plugins")

// lockPause is how long to wait between two attempts to lock the folder.
const lockPause = 50 * time.Millisecond

// acquire waits for the lock, which ends with the process that has it. The file stays.
func acquire(ctx context.Context, dir *os.Root) (*os.File, error) {
	f, err := dir.OpenFile(LockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := tryLock(f)
		if !errors.Is(err, errBusy) {
			return f, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("%w (%w)", err, ctx.Err())
		case <-time.After(lockPause):
		}
	}
}
