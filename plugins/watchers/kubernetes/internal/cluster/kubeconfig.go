package cluster

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
)

// maxFile bounds a kubeconfig, and a file that it names, in bytes.
const maxFile = 4 << 20

// kubeconfig is the file in which kubectl has its clusters: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
type kubeconfig struct {
	Current  string `yaml:"current-context"`
	Contexts []struct {
		Name    string
		Context struct{ Cluster, User string }
	}
	Clusters []struct {
		Name    string
		Cluster kubeCluster
	}
	Users []struct {
		Name string
		User kubeUser
	}
}

type kubeCluster struct {
	Server     string
	CAFile     string     `yaml:"certificate-authority"`
	CAData     base64Data `yaml:"certificate-authority-data"`
	Insecure   bool       `yaml:"insecure-skip-tls-verify"`
	ServerName string     `yaml:"tls-server-name"`
	Proxy      string     `yaml:"proxy-url"`
}

type kubeUser struct {
	Token     string
	TokenFile string         `yaml:"tokenFile"`
	CertFile  string         `yaml:"client-certificate"`
	CertData  base64Data     `yaml:"client-certificate-data"`
	KeyFile   string         `yaml:"client-key"`
	KeyData   base64Data     `yaml:"client-key-data"`
	Username  string         `yaml:"username"`
	Exec      map[string]any `yaml:"exec"`
	Provider  map[string]any `yaml:"auth-provider"`
}

// FromKubeconfig reads where a cluster is, and who asks, from the file of kubectl. The context is that of the name, or
// the current one of the file without a name. Paths in the file are relative to its folder, as for kubectl. Warnings
// are for the operator. An error is an *sdk.InvalidError about kubeconfig or context; no secret of the file is in it.
func FromKubeconfig(path, context string) (e Endpoint, warnings []string, err error) {
	text, err := readFile(path)
	if err != nil {
		return e, nil, sdk.Invalid("kubeconfig", "%v", err)
	}
	var k kubeconfig
	if yaml.Unmarshal(text, &k) != nil { // whose error may quote a token
		return e, nil, sdk.Invalid("kubeconfig", "%s is no kubeconfig: want YAML with clusters, users and contexts", path)
	}
	cluster, user, err := k.find(context)
	if err != nil {
		return e, nil, err
	}
	folder := filepath.Dir(path)
	if e.Server, err = ParseServer(cluster.Server); err != nil {
		return e, nil, sdk.Invalid("kubeconfig", "the server of the cluster %v", err)
	}
	if cluster.Proxy != "" {
		if e.Proxy, err = url.Parse(cluster.Proxy); err != nil || e.Proxy.Host == "" {
			return e, nil, sdk.Invalid("kubeconfig", "proxy-url of the cluster is not an address")
		}
	}
	if cluster.Insecure {
		warnings = append(warnings,
			"kubeconfig: insecure-skip-tls-verify is set: anyone on the way can read and change everything")
	}
	if e.TLS, err = cluster.tls(folder); err != nil {
		return e, nil, sdk.Invalid("kubeconfig", "%v", err)
	}
	if err := user.authenticate(&e, folder); err != nil {
		return e, nil, sdk.Invalid("kubeconfig", "%v", err)
	}
	if e.Server.Scheme == "http" {
		e.Token, e.TokenFile = "", "" // which everybody on the way could read
	}
	return e, warnings, nil
}

// find returns the cluster and the user of a context.
func (k kubeconfig) find(context string) (cluster kubeCluster, user kubeUser, err error) {
	name := cmp.Or(context, k.Current)
	if name == "" {
		return cluster, user, sdk.Invalid("context", "is not set, and the kubeconfig has no current-context")
	}
	var names []string
	for _, c := range k.Contexts {
		names = append(names, c.Name)
	}
	i := slices.Index(names, name)
	if i < 0 {
		slices.Sort(names)
		return cluster, user, sdk.Invalid("context", "the kubeconfig has no context %q; it has: %s",
			name, httpclient.Clean(strings.Join(names, ", ")))
	}
	of := k.Contexts[i].Context
	for _, c := range k.Clusters {
		if c.Name == of.Cluster {
			cluster = c.Cluster
		}
	}
	if cluster.Server == "" {
		return cluster, user, sdk.Invalid("kubeconfig",
			"the cluster %q of the context %q is not in it, or has no server", of.Cluster, name)
	}
	for _, u := range k.Users {
		if u.Name == of.User {
			user = u.User
		}
	}
	return cluster, user, nil
}

// tls returns how connections to the cluster are made.
func (c kubeCluster) tls(folder string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure}
	ca, err := content("certificate-authority", c.CAData, c.CAFile, folder)
	if err != nil || ca == nil {
		return config, err
	}
	config.RootCAs, err = pool(ca)
	return config, err
}

// authenticate says who asks.
func (u kubeUser) authenticate(e *Endpoint, folder string) error {
	const remedy = "make a service account for Dogwatch, and a kubeconfig with a token of it"
	switch {
	case u.Exec != nil || u.Provider != nil:
		return errors.New("its user logs in by a program, which Dogwatch does not start: " + remedy)
	case u.Username != "":
		return errors.New("its user logs in with a password, which Kubernetes has no more: " + remedy)
	}
	e.Login = "the user of the kubeconfig"
	switch {
	case u.TokenFile != "":
		e.TokenFile = within(folder, u.TokenFile)
		e.Login = "the token in " + e.TokenFile
	case u.Token != "":
		e.Token, e.Login = u.Token, "the token of the kubeconfig"
	}
	certificate, err := content("client-certificate", u.CertData, u.CertFile, folder)
	if err != nil || certificate == nil {
		return err
	}
	key, err := content("client-key", u.KeyData, u.KeyFile, folder)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return errors.New("its client-certificate and client-key do not make a pair")
	}
	e.TLS.Certificates = []tls.Certificate{pair}
	if e.Token == "" && e.TokenFile == "" {
		e.Login = "the client-certificate of the kubeconfig"
	}
	return nil
}

// FromAccount is the endpoint of a server with the account of a pod: a folder in which the kubelet has the token, and
// the certificate authority of the cluster: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/.
// Over http:// no token is sent, which suits kubectl proxy. An error is an *sdk.InvalidError.
func FromAccount(server *url.URL, folder string) (Endpoint, error) {
	e := Endpoint{Server: server, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}
	if server.Scheme == "http" {
		e.Login = "whoever asks without a login"
		return e, nil
	}
	e.TokenFile = filepath.Join(folder, "token")
	e.Login = "the token in " + e.TokenFile
	if _, err := readFile(e.TokenFile); err != nil {
		return e, sdk.Invalid("kubeconfig",
			"is not set, and there is no token of a service account, as pods of Kubernetes have: %v", err)
	}
	ca, err := readFile(filepath.Join(folder, "ca.crt"))
	if errors.Is(err, os.ErrNotExist) {
		return e, nil // the certificate may be one that the system knows
	}
	if err == nil {
		e.TLS.RootCAs, err = pool(ca)
	}
	if err != nil {
		return e, sdk.Invalid("account", "%v", err)
	}
	return e, nil
}

// ParseServer reads the address of an API server. The error does not repeat it.
func ParseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, errors.New("is not an address such as https://10.0.0.1:6443, without user and query")
	}
	return u, nil
}

// content returns what a kubeconfig has, as text or in a file; nil for neither.
func content(what string, data base64Data, file, folder string) ([]byte, error) {
	if len(data) > 0 {
		return data, nil
	}
	if file == "" {
		return nil, nil
	}
	text, err := readFile(within(folder, file))
	if err != nil {
		err = fmt.Errorf("%s: %w; kubectl config view --flatten --minify writes a kubeconfig without other files", what, err)
	}
	return text, err
}

func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

func pool(pem []byte) (*x509.CertPool, error) {
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(pem) {
		return nil, errors.New("the certificate authority of the cluster is no PEM certificate")
	}
	return p, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return bytes.TrimSpace(text), err
}
