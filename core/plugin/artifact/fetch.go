package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

// Want is what the user, or what was installed before, says of an artifact.
type Want struct {
	// Name replaces the artifact's own.
	Name string
	// Digest is the artifact's, with "sha256:" in front; "" for any.
	Digest string
	// Key is the only publisher whose signature counts; zero for any.
	Key Key
}

// Fetcher gets executables. Its fields do not change while it is used.
type Fetcher struct {
	// Logins are nil where no registry needs any.
	Logins Logins
	// Client makes the requests for https:// addresses; nil means http.DefaultClient.
	Client *http.Client
	// UserAgent is how requests name who makes them: "dogwatch/1.2.3".
	UserAgent string
	// Limit is the largest size, MaxSize when 0.
	Limit    int64
	Platform Platform
}

// Fetch writes the executable of a source to a file, and verifies what there is to
// verify. The file is of no use when there is an error.
func (f Fetcher) Fetch(ctx context.Context, s Source, want Want, to *os.File) (Fetched, error) {
	f = f.withDefaults()
	var got Fetched
	var err error
	switch {
	case s.Image != nil:
		got, err = f.fetchImage(ctx, *s.Image, want, to)
	case s.URL != nil:
		got, err = f.fetchURL(ctx, s, want, to)
	default:
		got, err = f.fetchFile(s, want, to)
	}
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", s, err)
	}
	got.Ref = s.String()
	if want.Name != "" {
		got.Name = want.Name
	}
	got.Name = strings.TrimSuffix(got.Name, ".exe")
	if err := CheckName(got.Name); err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", s, err)
	}
	if err := checkExecutable(to, f.Platform); err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", s, err)
	}
	return got, nil
}

func (f Fetcher) withDefaults() Fetcher {
	if f.Limit <= 0 {
		f.Limit = MaxSize
	}
	return f
}

func (f Fetcher) fetchFile(s Source, want Want, to *os.File) (Fetched, error) {
	from, err := os.Open(s.File)
	if err != nil {
		return Fetched{}, errors.New("cannot be read: " + reason(err))
	}
	defer from.Close()
	if info, err := from.Stat(); err != nil || !info.Mode().IsRegular() {
		return Fetched{}, errors.New("is not a regular file")
	}
	sum, size, err := f.copyTo(to, from)
	if err != nil {
		return Fetched{}, err
	}
	sidecar := func(suffix string) ([]byte, error) {
		data, err := os.ReadFile(s.File + suffix)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return data, err
	}
	return plainFile(filepath.Base(s.File), sum, size, want, to, sidecar)
}

// reason is an error about a file without its path, which is said already.
func reason(err error) string {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err.Error()
}

func (f Fetcher) fetchURL(ctx context.Context, s Source, want Want, to *os.File) (Fetched, error) {
	if want.Digest == "" {
		return Fetched{},
			errors.New("an https:// address needs the SHA-256 of its file: give --sha256, or digest in plugins.install")
	}
	get := func(suffix string) (*http.Response, error) {
		address := *s.URL
		address.Path += suffix
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
		if err != nil {
			return nil, errors.New("the address is malformed")
		}
		req.Header.Set("User-Agent", f.UserAgent)
		resp, err := f.client().Do(req)
		return resp, withoutURL(err)
	}
	resp, err := get("")
	if err != nil {
		return Fetched{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Fetched{}, fmt.Errorf("the server responded %s", resp.Status)
	}
	if resp.ContentLength > f.Limit {
		return Fetched{}, f.tooLarge(resp.ContentLength)
	}
	sum, size, err := f.copyTo(to, resp.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return Fetched{}, fmt.Errorf("it is truncated: %d bytes came of %d", size, resp.ContentLength)
	}
	if err != nil {
		return Fetched{}, withoutURL(err)
	}
	sidecar := func(suffix string) ([]byte, error) {
		resp, err := get(suffix)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, nil
		}
		return io.ReadAll(io.LimitReader(resp.Body, maxKeyFile))
	}
	return plainFile(path.Base(s.URL.Path), sum, size, want, to, sidecar)
}

// client follows redirects to https:// only.
func (f Fetcher) client() *http.Client {
	c := http.Client{}
	if f.Client != nil {
		c = *f.Client
	}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Scheme != "https":
			return errors.New("it leads to an address that is not https://")
		case len(via) >= 10:
			return errors.New("it leads on more than ten times")
		}
		return nil
	}
	return &c
}

// withoutURL takes the address away that package net/http puts in front of an
// error: its query may be a secret.
func withoutURL(err error) error {
	if err == nil {
		return nil
	}
	for next := err; next != nil; next = errors.Unwrap(next) {
		if text := next.Error(); !strings.Contains(text, "://") || strings.HasPrefix(text, "it leads") {
			return next
		}
	}
	return errors.New("the request failed")
}

// plainFile verifies a file that is no artifact of a registry.
func plainFile(
	name, sum string, size int64, want Want, file *os.File, sidecar func(suffix string) ([]byte, error),
) (Fetched, error) {
	got := Fetched{Plugin: Plugin{Name: name}, Digest: "sha256:" + sum, SHA256: sum, Size: size}
	if want.Digest != "" && !strings.EqualFold(want.Digest, got.Digest) {
		return Fetched{},
			fmt.Errorf("it is another file: its checksum is %s, want %s", sum, strings.TrimPrefix(want.Digest, "sha256:"))
	}
	if want.Key.IsZero() {
		return got, nil
	}
	suffix := ".minisig"
	if want.Key.cosign != nil {
		suffix = ".sig"
	}
	sig, err := sidecar(suffix)
	switch {
	case err != nil:
		return Fetched{}, fmt.Errorf("read its signature: %w", err)
	case len(sig) == 0:
		return Fetched{}, unsigned(want.Key, "there is no "+name+suffix+" beside it")
	}
	if want.Key.cosign != nil {
		raw, _ := hex.DecodeString(sum)
		if !want.Key.verifyCosign([sha256.Size]byte(raw), string(sig)) {
			return Fetched{}, fmt.Errorf("its signature is not one of this file by the key %s: refused", want.Key)
		}
	} else {
		comment, err := checkMinisign(want.Key, file, sig)
		if err != nil {
			return Fetched{}, err
		}
		got.Signed = statementOf(comment)
		if got.Version = got.Signed.Version; got.Version != "" {
			got.Name = got.Signed.Name
		}
	}
	got.Key = want.Key
	return got, nil
}

func unsigned(k Key, why string) error {
	return fmt.Errorf("it is not signed (%s), and the key %s is required: if the publisher has stopped signing, remove the plugin and install it again", why, k)
}

// checkMinisign refuses a file without a signature by the key, and returns the comment that
// is signed with it. Without a file that alone is verified.
func checkMinisign(k Key, file *os.File, sig []byte) (comment string, err error) {
	if by := signedBy(sig); by != "" && by != k.String() {
		return "",
			fmt.Errorf("it is signed by another key, %s instead of %s: refused; if the publisher has a new key, and you know from them that it is theirs, give it with --key and --new-key (or as key in plugins.install)", by, k)
	}
	var s minisign.Signature
	if err := s.UnmarshalText(sig); err != nil {
		return "", errors.New("its signature is malformed")
	}
	holds := k.verifyComment(sig)
	if holds && file != nil {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return "", fmt.Errorf("read the file again: %w", err)
		}
		if holds, err = k.verifyMinisign(file, sig); err != nil {
			return "", err
		}
	}
	if !holds {
		return "", fmt.Errorf("its signature by the key %s does not hold: the file, or the signature, was changed", k)
	}
	return s.TrustedComment, nil
}

func (f Fetcher) tooLarge(size int64) error {
	return fmt.Errorf("it has %d bytes, more than the limit of %d: --max-size allows more", size, f.Limit)
}

// copyTo writes what r has, up to the limit, and returns its SHA-256 in hexadecimal.
func (f Fetcher) copyTo(to *os.File, r io.Reader) (sum string, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(to, hash), io.LimitReader(r, f.Limit+1))
	switch {
	case err != nil:
		return "", size, err
	case size > f.Limit:
		return "", size, fmt.Errorf("it is larger than the limit of %d bytes: --max-size allows more", f.Limit)
	case size == 0:
		return "", 0, errors.New("it is empty")
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}
