package httpclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// MaxBody is how many bytes of a response are read unless LimitBody says otherwise: 8 MiB.
const MaxBody = 8 << 20

// ErrTooLarge is wrapped by the error of reading beyond the limit of a body.
var ErrTooLarge = errors.New("the answer is too large")

// body counts what is read of a response and explains what goes wrong.
type body struct {
	io.ReadCloser
	left, max int64
	explain   func(error) error
}

func (b *body) Read(p []byte) (int, error) {
	// One byte beyond the limit distinguishes a response that fits exactly from one that does not.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, b.left = n-1, 0
		return n, b.explain(fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.max))
	}
	if err != nil && err != io.EOF {
		err = b.explain(err)
	}
	return n, err
}

// LimitBody bounds what can be read from now on of a response's body, in bytes.
func LimitBody(resp *http.Response, max int64) {
	if b, ours := resp.Body.(*body); ours {
		b.left, b.max = max, max
		return
	}
	resp.Body = &body{ReadCloser: resp.Body, left: max, max: max, explain: func(err error) error { return err }}
}

// ReadAll reads the rest of a response's body, at most max bytes; a longer one is
// an error wrapping ErrTooLarge. The caller still closes the body.
func ReadAll(resp *http.Response, max int64) ([]byte, error) {
	LimitBody(resp, max)
	return io.ReadAll(resp.Body)
}
