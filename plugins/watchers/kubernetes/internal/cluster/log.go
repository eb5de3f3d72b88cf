package cluster

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// maxLog bounds what is read of a log, in bytes: the server counts lines, of any length.
const maxLog = 1 << 20

// LogRequest is which log is read: that of a container of a pod, or of its run before the last restart.
type LogRequest struct {
	Namespace, Pod, Container string
	Previous                  bool
	Lines                     int // of the end
}

// Log writes the end of a log. The error is a *DeniedError where the account may not read it, and an sdk.InvalidError
// where there is none: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
func (c *Client) Log(ctx context.Context, of LogRequest, to io.Writer) error {
	path := Resource{Version: "v1", Name: "pods", Namespace: of.Namespace}.path() + "/" + of.Pod + "/log"
	query := url.Values{"container": {of.Container}, "tailLines": {strconv.Itoa(of.Lines)}}
	if of.Previous {
		query.Set("previous", "true")
	}
	r := Resource{Version: "v1", Name: "pods/log", Namespace: of.Namespace}
	resp, err := c.send(ctx, request{path: path, query: query.Encode()})
	if err != nil {
		return c.unreachable("get", r, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.failure("get", r, resp)
	}
	if _, err := io.Copy(to, io.LimitReader(resp.Body, maxLog)); err != nil {
		return c.unreachable("get", r, err)
	}
	return nil
}
