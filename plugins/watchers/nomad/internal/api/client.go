// Package api asks a Nomad cluster over its HTTP API: it lists jobs, reads one, and streams events. What comes in is
// where it is and who asks; what goes out are jobs with the few fields that a watcher reads, and errors that say which
// capability a token lacks. It keeps nothing, and tries nothing again.
//
// Protocol facts are from https://developer.hashicorp.com/nomad/api-docs.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

const (
	// pageSize is how many jobs of a list are requested at a time.
	pageSize = 500
	// lasting is how long a stream lasts at most: then the jobs are listed again, which finds what it missed.
	lasting = time.Hour
	// blocking is how long the server may wait for a change before it answers; it adds up to a sixteenth.
	blocking = 5 * time.Minute
)

// The capabilities of policies: https://developer.hashicorp.com/nomad/docs/other-specifications/acl-policy#capabilities
const (
	listJobs  = "list-jobs"
	readJob   = "read-job"
	submitJob = "submit-job"
	readLogs  = "read-logs"
)

// Client makes requests to one cluster. It is safe for concurrent use.
type Client struct {
	http, long    *httpclient.Client // long is for what takes long on purpose
	base          *url.URL
	region, token string
}

// New returns a client. It does not connect. Wrong options are an *sdk.InvalidError.
func New(env sdk.Env, base *url.URL, region, token string, o httpclient.Options) (*Client, error) {
	short, err := httpclient.New(env, o, token)
	if err != nil {
		return nil, err
	}
	o.Timeout = 2 * lasting
	long, err := httpclient.New(env, o, token)
	if err != nil {
		return nil, err
	}
	return &Client{http: short, long: long, base: base, region: region, token: token}, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	c.http.Close()
	c.long.Close()
}

// Host returns the host of the server.
func (c *Client) Host() string { return c.base.Host }

// Jobs lists the jobs of a namespace, or of all that the token may list for "*", as they are after an index: it waits
// a few minutes for a change where that is not 0. It returns the index that they have now.
func (c *Client) Jobs(ctx context.Context, namespace string, after uint64) (jobs []Job, index uint64, err error) {
	query := url.Values{"namespace": {namespace}, "per_page": {strconv.Itoa(pageSize)}}
	client := c.http
	if after > 0 {
		client = c.long
		query.Set("index", strconv.FormatUint(after, 10))
		query.Set("wait", blocking.String())
	}
	for {
		var page []Job
		header, err := c.exchange(ctx, client, question{"v1/jobs", query, "list the jobs", listJobs, namespace}, nil, &page)
		if err != nil {
			return nil, 0, err
		}
		if index == 0 { // the first page is the oldest
			index, _ = strconv.ParseUint(header.Get("X-Nomad-Index"), 10, 64) // without it nothing is waited for
		}
		jobs = append(jobs, page...)
		next := header.Get("X-Nomad-NextToken")
		if next == "" || next == query.Get("next_token") {
			break
		}
		query.Set("next_token", next)
		query.Del("index") // later pages are not waited for
		query.Del("wait")
	}
	for i := range jobs {
		if jobs[i].Namespace == "" {
			jobs[i].Namespace = namespace
		}
	}
	return jobs, index, nil
}

// Job reads a job. The error is an sdk.ErrNotFound where there is none.
func (c *Client) Job(ctx context.Context, namespace, id string) (Job, error) {
	var job Job
	err := c.ask(ctx, namespace, id, "", "read the job", readJob, nil, &job)
	if err == nil && job.ID == "" {
		err = sdk.WithKind(sdk.ErrUnavailable, fmt.Errorf("read the job %s: %s answered without one", id, c.base.Host))
	}
	return job, err
}

// question is what is asked, in words too, and what a token needs for it.
type question struct {
	path       string
	query      url.Values
	doing      string
	capability string
	namespace  string
}

// exchange posts in, or gets where that is nil, and reads the response into out.
func (c *Client) exchange(
	ctx context.Context, client *httpclient.Client, q question, in, out any,
) (http.Header, error) {
	resp, err := c.open(ctx, client, q, in)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := httpclient.ReadAll(resp, httpclient.MaxBody)
	if err != nil {
		return nil, fmt.Errorf("%s of Nomad in namespace %s: %w", q.doing, q.namespace, err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, sdk.WithKind(sdk.ErrUnavailable,
			fmt.Errorf("%s: %s answered what is none of Nomad's: check url", q.doing, c.base.Host))
	}
	return resp.Header, nil
}

// open requests what is asked. The body of the response must be closed.
func (c *Client) open(ctx context.Context, client *httpclient.Client, q question, in any) (*http.Response, error) {
	if c.region != "" {
		q.query.Set("region", c.region)
	}
	at, err := url.Parse(strings.TrimSuffix(c.base.String(), "/") + "/" + q.path) // JoinPath would unescape %2F
	if err != nil {
		return nil, err
	}
	at.RawQuery = q.query.Encode()
	req, err := httpclient.NewRequest(ctx, http.MethodGet, at.String())
	if err != nil {
		return nil, err
	}
	if in != nil {
		payload, err := httpclient.EncodeJSON(in)
		if err != nil {
			return nil, err
		}
		req.Method = http.MethodPost
		httpclient.SetBody(req, "application/json", payload)
	}
	req.Header.Set("Accept", "application/json")
	if c.token != "" {
		req.Header.Set("X-Nomad-Token", c.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s of Nomad in namespace %s: %w", q.doing, q.namespace, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.failure(q, resp.StatusCode, client.CheckStatus(resp))
}

// failure adds to the error of a status what was asked, and what to do about it.
func (c *Client) failure(q question, status int, err error) error {
	err = fmt.Errorf("%s of Nomad in namespace %s: %w", q.doing, q.namespace, err)
	switch {
	case status == http.StatusInternalServerError && q.capability == submitJob: // Nomad refuses with it
		text := err.Error()
		if strings.Contains(text, "nforcing job modify index") || strings.Contains(text, "enforcing version") {
			return fmt.Errorf("%w: %s", ErrConflict, text)
		}
		return errors.New(text)
	case status != http.StatusForbidden && status != http.StatusUnauthorized:
		return err
	case c.token == "":
		return sdk.WithRemedy(err, fmt.Sprintf("set token to one with a policy that has the capability %q in namespace %q",
			q.capability, q.namespace))
	case strings.Contains(strings.ToLower(err.Error()), "token not found"), strings.Contains(err.Error(), "expired"):
		return sdk.WithRemedy(err, "the server does not know token, or it has expired: make a new one (nomad acl token create), "+
			"write it where token is set, or into the file of token__file, and run dogwatch reload")
	}
	return sdk.WithRemedy(err, fmt.Sprintf("add the capability %q for namespace %q to a policy of token",
		q.capability, q.namespace))
}
