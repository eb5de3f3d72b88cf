package httpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
)

// JSON sends in as JSON, unless it is nil, and reads the response into out, unless
// it is nil. header is added to the request; it may be nil. A status other than
// 2xx is the error of CheckStatus.
func (c *Client) JSON(ctx context.Context, method, address string, header http.Header, in, out any) error {
	req, err := NewRequest(ctx, method, address)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		payload, err := EncodeJSON(in)
		if err != nil {
			return err
		}
		SetBody(req, "application/json", payload)
	}
	maps.Copy(req.Header, header)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := c.CheckStatus(resp); err != nil {
		return err
	}
	return decode(resp, out)
}

// EncodeJSON is json.Marshal that leaves <, > and & as they are: it is not put into web pages unescaped.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// SetBody makes payload the body of a request. It can be sent again after a
// redirect or on a connection that turned out to be closed.
func SetBody(req *http.Request, contentType string, payload []byte) {
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(payload))
	req.Header.Set("Content-Type", contentType)
}

// drained is how much of an unused response is read, so that its connection can be reused.
const drained = 64 << 10

func decode(resp *http.Response, out any) error {
	if out == nil {
		// The request was accepted; a response that breaks off changes nothing.
		_, _ = io.CopyN(io.Discard, resp.Body, drained)
		return nil
	}
	payload, err := ReadAll(resp, MaxBody)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, out); err != nil {
		return fmt.Errorf("%s answered something else than the expected JSON (%d bytes, content type %.60q)",
			resp.Request.URL.Host, len(payload), resp.Header.Get("Content-Type"))
	}
	return nil
}
