package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/internal/webaddress"
)

// Under the names curl and sh, as which it is linked into the image, this
// program runs the health checks that are written for other images:
//
//	curl --fail http://localhost:3000/health || exit 1
//
// They need nothing else of a shell or of curl, and get nothing else.

// The exit codes of curl and of shells that matter here.
const (
	curlUsage       = 2
	curlBadURL      = 3
	curlUnreachable = 7
	curlRefused     = 22 // --fail and a status of 400 or more
	curlWrite       = 23
	curlTimeout     = 28
	curlCertificate = 60
	shellNotFound   = 127
)

// standIn returns the program that the name of this process stands for, if it is one of those above.
func standIn(name string) (func(ctx context.Context, args []string, stdout, stderr io.Writer) int, bool) {
	switch filepath.Base(name) {
	case "curl":
		return curl, true
	case "sh":
		return shell, true
	}
	return nil, false
}

// curlRequest is what a command line of curl asks for.
type curlRequest struct {
	url                          string
	fail, silent, show, insecure bool
	follow, head                 bool
	output                       string
	timeout                      time.Duration
}

// curl makes one GET request as curl would.
func curl(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parseCurl(args)
	complain := func(code int, err error) int {
		if !c.silent || c.show {
			fmt.Fprintf(stderr, "curl: (%d) %v\n", code, err)
		}
		return code
	}
	if err != nil {
		return complain(curlUsage, err)
	}
	address := c.url
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || !webaddress.Is(u) {
		return complain(curlBadURL, fmt.Errorf("%q is not an http or https address", c.url))
	}
	code, err := c.do(ctx, u, stdout)
	if err != nil {
		return complain(code, err)
	}
	return code
}

func (c *curlRequest) do(ctx context.Context, u *url.URL, stdout io.Writer) (int, error) {
	client := &http.Client{Timeout: c.timeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: c.insecure},
		DisableKeepAlives: true,
	}}
	if !c.follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	method := http.MethodGet
	if c.head {
		method = http.MethodHead
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return curlBadURL, err
	}
	res, err := client.Do(req)
	if err != nil {
		var certificate *tls.CertificateVerificationError
		switch {
		case errors.As(err, &certificate):
			return curlCertificate, certificate
		case os.IsTimeout(err):
			return curlTimeout, errors.New("no answer in time")
		}
		return curlUnreachable, fmt.Errorf("connect to %s: %w", u.Host, rootOf(err))
	}
	defer res.Body.Close()
	if c.fail && res.StatusCode >= 400 {
		return curlRefused, fmt.Errorf("the requested URL returned error: %d", res.StatusCode)
	}
	return c.write(res, stdout)
}

func (c *curlRequest) write(res *http.Response, stdout io.Writer) (int, error) {
	if c.output != "" && c.output != "-" {
		f, err := os.OpenFile(c.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return curlWrite, err
		}
		defer f.Close()
		stdout = f
	}
	if c.head {
		fmt.Fprintf(stdout, "%s %s\r\n", res.Proto, res.Status)
		_ = res.Header.Write(stdout) // what cannot be written is noticed below
		fmt.Fprint(stdout, "\r\n")
	}
	if _, err := io.Copy(stdout, res.Body); err != nil {
		return curlWrite, err
	}
	return 0, nil
}

// parseCurl reads a command line. Of the options that curl knows it accepts
// those that health checks use.
func parseCurl(args []string) (*curlRequest, error) {
	c := &curlRequest{}
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case strings.HasPrefix(word, "--"):
			name, value, has := strings.Cut(word[2:], "=")
			takes, known := c.long(name)
			if !known {
				return c, fmt.Errorf("option %s is not one this stand-in for curl knows", word)
			}
			if takes && !has {
				i++
				if i == len(args) {
					return c, fmt.Errorf("option %s needs a value", word)
				}
				value = args[i]
			}
			if err := c.set(name, value); err != nil {
				return c, err
			}
		case strings.HasPrefix(word, "-") && len(word) > 1:
			used, err := c.short(word[1:], args[i+1:])
			if err != nil {
				return c, err
			}
			i += used
		case c.url != "":
			return c, fmt.Errorf("only one address can be asked, not also %q", word)
		default:
			c.url = word
		}
	}
	if c.url == "" {
		return c, errors.New("no address given")
	}
	return c, nil
}

// short reads a group of one-letter options and returns how many of the words behind it were values.
func (c *curlRequest) short(letters string, rest []string) (used int, err error) {
	names := map[rune]string{
		'f': "fail", 's': "silent", 'S': "show-error", 'k': "insecure", 'L': "location", 'I': "head", 'o': "output",
		'm': "max-time", 'X': "request",
	}
	for i, letter := range letters {
		name, known := names[letter]
		if !known {
			return 0, fmt.Errorf("option -%c is not one this stand-in for curl knows", letter)
		}
		takes, _ := c.long(name)
		if !takes {
			_ = c.set(name, "") // options without a value are never wrong
			continue
		}
		value := letters[i+1:]
		if value == "" {
			if len(rest) == 0 {
				return 0, fmt.Errorf("option -%c needs a value", letter)
			}
			value, used = rest[0], 1
		}
		return used, c.set(name, value)
	}
	return 0, nil
}

// long reports whether an option is known and takes a value.
func (c *curlRequest) long(name string) (takesValue, known bool) {
	switch name {
	case "fail", "silent", "show-error", "insecure", "location", "head":
		return false, true
	case "output", "max-time", "connect-timeout", "request", "retry":
		return true, true
	}
	return false, false
}

func (c *curlRequest) set(name, value string) error {
	switch name {
	case "fail":
		c.fail = true
	case "silent":
		c.silent = true
	case "show-error":
		c.show = true
	case "insecure":
		c.insecure = true
	case "location":
		c.follow = true
	case "head":
		c.head = true
	case "output":
		c.output = value
	case "request":
		if value != http.MethodGet && value != http.MethodHead {
			return fmt.Errorf("this stand-in for curl only reads: no %s requests", value)
		}
		c.head = value == http.MethodHead
	case "max-time", "connect-timeout":
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil || seconds <= 0 {
			return fmt.Errorf("--%s wants a number of seconds, not %q", name, value)
		}
		c.timeout = time.Duration(seconds * float64(time.Second))
	}
	return nil
}

// shell runs "sh -c 'curl … || exit 1'", the form in which engines run a health
// check that is written as one text, and says what it is when asked for more.
func shell(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	refuse := func() int {
		fmt.Fprintln(stderr,
			"sh: this image has no shell; its stand-in only runs health checks of the form: curl [options] address || exit 1")
		return shellNotFound
	}
	if len(args) < 2 || args[0] != "-c" || strings.ContainsAny(args[1], "`;&<>\\()*?\n") {
		return refuse()
	}
	command, otherwise, alternative := strings.Cut(os.Expand(args[1], parameter), "||")
	words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "").Replace(command))
	if len(words) == 0 || strings.Contains(command, "|") {
		return refuse()
	}
	exitWith := 0
	if alternative {
		fields := strings.Fields(otherwise)
		n, err := strconv.Atoi(strings.Join(fields[min(1, len(fields)):], " "))
		if len(fields) != 2 || fields[0] != "exit" || err != nil {
			return refuse()
		}
		exitWith = n
	}
	var code int
	switch name := filepath.Base(words[0]); name {
	case "curl":
		code = curl(ctx, words[1:], stdout, stderr)
	case "dogwatch":
		code = run(ctx, words[1:], stdout, stderr)
	default:
		return refuse()
	}
	if code != 0 && alternative {
		return exitWith
	}
	return code
}

// parameter expands the name of a variable, or "name:-default".
func parameter(name string) string {
	name, otherwise, _ := strings.Cut(name, ":-")
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
