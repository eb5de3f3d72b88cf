package ecr

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

// machine is the environment of the machine, which only the go command sees.
var machine = os.Environ()

// TestMain keeps the tests away from the credentials of the machine they run on.
func TestMain(m *testing.M) {
	for _, name := range append(Env(), "HOME", "AWS_CA_BUNDLE") {
		os.Unsetenv(name)
	}
	os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	os.Exit(m.Run())
}

// cloud is the parts of AWS that matter here, on one local address. Every
// source of credentials gives other ones, so that a test sees which was used.
type cloud struct {
	mu sync.Mutex
	// used are the access keys that signed, and by which service they were shown: "ecr STATIC".
	used []string
	// lost makes parts of the cloud respond with a status.
	lost map[string]int
}

const leak = "recognisable-s3cret"

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	part := c.part(r)
	if status := c.lost[part]; status != 0 {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"code":"AccessDenied","message":"not with %s"}`, leak)
		return
	}
	_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(signed, "/")
	c.used = append(c.used, strings.TrimSpace(part+" "+key))
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	given := func(key string) string {
		return fmt.Sprintf(`{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":%q,"Token":"t","Expiration":%q}`, key,
			leak, expires)
	}
	switch part {
	case "ecr":
		token := base64.StdEncoding.EncodeToString([]byte("AWS:given"))
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, token,
			time.Now().Add(12*time.Hour).Unix())
	case "sts AssumeRole", "sts AssumeRoleWithWebIdentity":
		action := strings.TrimPrefix(part, "sts ")
		key := "ROLE"
		if action != "AssumeRole" {
			key = "WEB-" + r.Form.Get("WebIdentityToken")
		}
		c.used[len(c.used)-1] += " " + r.Form.Get("RoleArn") + " " + r.Form.Get("RoleSessionName") + r.Form.Get("ExternalId")
		fmt.Fprintf(w,
			`<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>%s</AccessKeyId>`+
				`<SecretAccessKey>%s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action, key, leak, expires)
	case "imds token":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		fmt.Fprint(w, "imds-token")
	case "imds":
		if r.Header.Get("X-Aws-Ec2-Metadata-Token") != "imds-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/") {
			fmt.Fprint(w, "reader")
			return
		}
		fmt.Fprint(w, given("INSTANCE"))
	case "container":
		fmt.Fprint(w, given("TASK-"+r.Header.Get("Authorization")))
	case "sso":
		q := r.URL.Query()
		c.used[len(c.used)-1] += " " + q.Get("account_id") + " " + q.Get("role_name")
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"SSO-%s","secretAccessKey":%q,"sessionToken":"t","expiration":%d}}`,
			r.Header.Get("X-Amz-Sso_bearer_token"), leak, time.Now().Add(time.Hour).UnixMilli())
	case "sso-oidc":
		fmt.Fprint(w, `{"accessToken":"renewed","expiresIn":3600,"refreshToken":"next","tokenType":"Bearer"}`)
	case "signin":
		if r.Header.Get("DPoP") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w,
			`{"accessToken":{"accessKeyId":"LOGIN-RENEWED","secretAccessKey":%q,"sessionToken":"t"},"expiresIn":900,"refreshToken":"next","tokenType":"aws_sigv4"}`, leak)
	default:
		http.NotFound(w, r)
	}
}

func (c *cloud) part(r *http.Request) string {
	switch {
	case strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetAuthorizationToken"):
		return "ecr"
	case r.Form.Get("Action") != "":
		return "sts " + r.Form.Get("Action")
	case r.URL.Path == "/latest/api/token":
		return "imds token"
	case strings.HasPrefix(r.URL.Path, "/latest/meta-data/iam/security-credentials"):
		return "imds"
	case r.URL.Path == "/federation/credentials":
		return "sso"
	case r.URL.Path == "/token":
		return "sso-oidc"
	case r.URL.Path == "/v1/token":
		return "signin"
	}
	return strings.Trim(r.URL.Path, "/")
}

// scene is what a program on AWS may find around it.
type scene struct {
	o   Options
	env map[string]string
	// config and keys are the shared files.
	config, keys string
	// session is the token that "aws sso login" or "aws login" left.
	session string
	lost    map[string]int
}

const (
	signOnOld = "[default]\nsso_start_url=https://me.awsapps.com/start\nsso_region=us-east-1\nsso_account_id=111122223333\nsso_role_name=reader\n"
	signOnNow = "[default]\nsso_session=me\nsso_account_id=111122223333\nsso_role_name=reader\n[sso-session me]\nsso_region=us-east-1\nsso_start_url=https://me.awsapps.com/start\n"
	signIn    = "[default]\nlogin_session=arn:aws:iam::1:user/me\n"
)

// play requests an authorization in a scene and returns the requests in order.
func (s scene) play(t *testing.T) ([]string, error) {
	t.Helper()
	c := &cloud{lost: s.lost}
	server := httptest.NewServer(c)
	defer server.Close()
	home := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("web-token", "jwt")
	write("pod-token", "pod")
	tls := httptest.NewTLSServer(nil)
	write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})))
	tls.Close()
	write("odd-process", "#!/bin/sh\necho "+leak+"\n")
	if s.config != "" {
		write(".aws/config", strings.ReplaceAll(s.config, "{home}", home))
	}
	if s.keys != "" {
		write(".aws/credentials", s.keys)
	}
	for name, text := range s.files(t) {
		write(name, text)
	}
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, ".aws", "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, ".aws", "credentials"))
	t.Setenv("AWS_ENDPOINT_URL_SSO", server.URL)
	t.Setenv("AWS_ENDPOINT_URL_SSO_OIDC", server.URL)
	t.Setenv("AWS_ENDPOINT_URL_SIGNIN", server.URL)
	t.Setenv("AWS_ENDPOINT_URL_STS", server.URL)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
	if _, set := s.env["AWS_EC2_METADATA_DISABLED"]; !set {
		t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	}
	for name, value := range s.env {
		t.Setenv(name, strings.NewReplacer("{home}", home, "{cloud}", server.URL).Replace(value))
	}
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.o.Region, s.o.Endpoint = "eu-west-1", address
	given, _, err := ownAPI(s.o, http.DefaultClient).authorization(t.Context())
	if err == nil && given != (sdk.Credentials{Username: "AWS", Password: "given"}) {
		t.Errorf("given %v", given)
	}
	return c.used, err
}

// files are those of a person's session, which is still good or has ended, by name.
func (s scene) files(t *testing.T) map[string]string {
	t.Helper()
	if s.session == "" {
		return nil
	}
	ends := time.Now().Add(time.Hour)
	if s.session == "ended" {
		ends = ends.Add(-2 * time.Hour)
	}
	sum := func(text string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(text))) }
	token := map[string]any{"accessToken": s.session, "expiresAt": ends.UTC().Format(time.RFC3339)}
	old, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	token["clientId"], token["clientSecret"], token["refreshToken"] = "id", leak, leak
	now, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	login, err := json.Marshal(map[string]any{
		"accessToken": map[string]any{
			"accessKeyId": "LOGIN-" + s.session, "secretAccessKey": leak, "sessionToken": "t", "accountId": "1",
			"expiresAt": ends.UTC(),
		},
		"tokenType": "aws_sigv4", "refreshToken": leak, "clientId": "arn:aws:signin:::devtools/same-device",
		"dpopKey": string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	// The SDKs name the files by their sessions, or by the address of before sessions.
	return map[string]string{
		".aws/sso/cache/" + sum("me") + ".json":                                                            string(now),
		".aws/sso/cache/" + sum("https://me.awsapps.com/start") + ".json":                                  string(old),
		".aws/login/cache/" + fmt.Sprintf("%x", sha256.Sum256([]byte("arn:aws:iam::1:user/me"))) + ".json": string(login),
	}
}

func TestCredentialChainOrder(t *testing.T) {
	static := map[string]string{"AWS_ACCESS_KEY_ID": "STATIC", "AWS_SECRET_ACCESS_KEY": leak}
	const imds = "imds token, imds, imds, ecr INSTANCE"
	for name, test := range map[string]struct {
		scene
		want string
	}{
		"variables": {scene{
			env: static, keys: "[default]\naws_access_key_id=FILE\naws_secret_access_key=x",
		}, "ecr STATIC"},
		"half of the variables": {scene{env: map[string]string{"AWS_ACCESS_KEY_ID": "STATIC"}}, imds},
		"keys of the options come first": {scene{o: Options{AccessKeyID: "OPTION", SecretAccessKey: "x"}, env: static},
			"ecr OPTION"},
		"a web identity": {scene{
			env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/web-token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/pod"},
		},
			"sts AssumeRoleWithWebIdentity arn:aws:iam::1:role/pod dogwatch, ecr WEB-jwt"},
		"a profile of the credentials file": {scene{
			keys: "[default]\naws_access_key_id = FILE # mine\naws_secret_access_key = x\n[other]\naws_access_key_id=OTHER\naws_secret_access_key=x",
		}, "ecr FILE"},
		"a profile of the configuration": {scene{
			config: "; mine\n[default]\nregion = us-east-1\nAWS_ACCESS_KEY_ID=CONFIG\naws_secret_access_key=x\ns3 =\n  max_concurrent_requests = 20\n",
		}, "ecr CONFIG"},
		"the credentials file counts": {scene{
			config: "[default]\naws_access_key_id=CONFIG\naws_secret_access_key=x",
			keys:   "[default]\naws_access_key_id=FILE\naws_secret_access_key=x",
		}, "ecr FILE"},
		"a profile by variable": {scene{
			env:    map[string]string{"AWS_PROFILE": "other"},
			config: "[profile  other]\naws_access_key_id=OTHER\naws_secret_access_key=x",
		}, "ecr OTHER"},
		"a profile by option comes before variables": {scene{
			o: Options{Profile: "other"}, env: static, keys: "[other]\naws_access_key_id=OTHER\naws_secret_access_key=x",
		}, "ecr OTHER"},
		"files elsewhere": {scene{
			env:    map[string]string{"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "{home}/.aws/config"},
			config: "[default]\naws_access_key_id=MOVED\naws_secret_access_key=x",
		}, "ecr MOVED"},
		"a role of a profile": {scene{
			o:      Options{Profile: "reader"},
			config: "[profile reader]\nrole_arn=arn:aws:iam::1:role/reader\nsource_profile=base\nexternal_id=-x\nrole_session_name=me\n", keys: "[base]\naws_access_key_id=BASE\naws_secret_access_key=x",
		},
			"sts AssumeRole BASE arn:aws:iam::1:role/reader me-x, ecr ROLE"},
		"a role of a profile that is its own source": {scene{
			config: "[default]\nrole_arn=arn:aws:iam::1:role/reader\nsource_profile=default\naws_access_key_id=BASE\naws_secret_access_key=x",
		},
			"sts AssumeRole BASE arn:aws:iam::1:role/reader dogwatch, ecr ROLE"},
		"a role of the instance": {scene{
			config: "[default]\nrole_arn=arn:aws:iam::1:role/reader\ncredential_source=Ec2InstanceMetadata",
		},
			"imds token, imds, imds, sts AssumeRole INSTANCE arn:aws:iam::1:role/reader dogwatch, ecr ROLE"},
		"a role of the variables": {scene{
			o: Options{Profile: "p"}, env: static,
			config: "[profile p]\nrole_arn=arn:aws:iam::1:role/reader\ncredential_source=Environment",
		},
			"sts AssumeRole STATIC arn:aws:iam::1:role/reader dogwatch, ecr ROLE"},
		"a role of the task": {scene{
			env:    map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "{cloud}/container"},
			config: "[default]\nrole_arn=arn:aws:iam::1:role/reader\ncredential_source=EcsContainer",
		},
			"container, sts AssumeRole TASK- arn:aws:iam::1:role/reader dogwatch, ecr ROLE"},
		"a web identity of a profile": {scene{
			config: "[default]\nrole_arn=arn:aws:iam::1:role/pod\nweb_identity_token_file={home}/web-token",
		},
			"sts AssumeRoleWithWebIdentity arn:aws:iam::1:role/pod dogwatch, ecr WEB-jwt"},
		"a role of the options": {scene{
			o: Options{AccessKeyID: "OPTION", SecretAccessKey: "x", RoleARN: "arn:aws:iam::1:role/mine"},
		},
			"sts AssumeRole OPTION arn:aws:iam::1:role/mine dogwatch, ecr ROLE"},
		"a role of the options on the instance": {scene{o: Options{RoleARN: "arn:aws:iam::1:role/mine"}},
			"imds token, imds, imds, sts AssumeRole INSTANCE arn:aws:iam::1:role/mine dogwatch, ecr ROLE"},
		"a profile with a ca_bundle": {scene{
			o:      Options{Profile: "p"},
			config: "[profile p]\nca_bundle={home}/ca.pem\nrole_arn=arn:aws:iam::1:role/reader\nsource_profile=b\n[profile b]\naws_access_key_id=BASE\naws_secret_access_key=x\n",
		},
			"sts AssumeRole BASE arn:aws:iam::1:role/reader dogwatch, ecr ROLE"},
		"a process": {scene{
			config: "[default]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"PROCESS\",\"SecretAccessKey\":\"x\"}'",
		}, "ecr PROCESS"},
		"a container with a token": {scene{
			env: map[string]string{
				"AWS_CONTAINER_CREDENTIALS_FULL_URI": "{cloud}/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "task",
			},
		}, "container, ecr TASK-task"},
		"a pod": {scene{
			env: map[string]string{
				"AWS_CONTAINER_CREDENTIALS_FULL_URI":     "{cloud}/container",
				"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "{home}/pod-token",
			},
		}, "container, ecr TASK-pod"},
		"an instance": {scene{}, imds},

		"single sign-on": {scene{config: signOnNow, session: "good"},
			"sso 111122223333 reader, ecr SSO-good"},
		"single sign-on whose token ended": {scene{config: signOnNow, session: "ended"},
			"sso-oidc, sso 111122223333 reader, ecr SSO-renewed"},
		"single sign-on of before sessions": {scene{config: signOnOld, session: "good"},
			"sso 111122223333 reader, ecr SSO-good"},
		"a role by single sign-on": {scene{
			o:      Options{Profile: "p"},
			config: "[profile p]\nrole_arn=arn:aws:iam::1:role/reader\nsource_profile=default\n" + signOnNow, session: "good",
		}, "sso 111122223333 reader, sts AssumeRole SSO-good arn:aws:iam::1:role/reader dogwatch, ecr ROLE"},
		"a login of the console":                {scene{config: signIn, session: "good"}, "ecr LOGIN-good"},
		"a login of the console, to be renewed": {scene{config: signIn, session: "ended"}, "signin, ecr LOGIN-RENEWED"},
	} {
		t.Run(name, func(t *testing.T) {
			used, err := test.play(t)
			if got := strings.Join(used, ", "); err != nil || got != test.want {
				t.Errorf("requested %s, %v\nwant  %s", got, err, test.want)
			}
		})
	}
}

func TestCredentialChainErrors(t *testing.T) {
	const nothing = "there are no credentials for AWS: set accesskeyid and secretaccesskey, or give"
	for name, test := range map[string]struct {
		scene
		kind error
		want string
	}{
		"nothing at all": {scene{env: map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}},
			sdk.ErrUnauthorized, nothing},
		"an instance without a role": {scene{lost: map[string]int{"imds": 404}}, sdk.ErrUnauthorized,
			"(whose metadata service gave none: 404 not found)"},
		"no metadata service": {scene{
			env: map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"},
		}, sdk.ErrUnauthorized, "(whose metadata service gave none: it is not there or switched off)"},
		"no such profile": {scene{
			o: Options{Profile: "other"}, keys: "[default]\naws_access_key_id=FILE\naws_secret_access_key=x",
		}, sdk.ErrUnauthorized, `there is no profile "other" in the AWS configuration (`},
		"no such source": {scene{config: "[default]\nrole_arn=arn:r\nsource_profile=gone"},
			sdk.ErrUnauthorized, `there is no profile "gone"`},
		"profiles in a circle": {scene{
			config: "[default]\nrole_arn=arn:r\nsource_profile=b\n[profile b]\nrole_arn=arn:r\nsource_profile=default",
		}, sdk.ErrUnauthorized, "that lead in a circle"},
		"a second factor": {scene{
			config: "[default]\nrole_arn=arn:r\nmfa_serial=x\naws_access_key_id=FILE\naws_secret_access_key=x",
		}, sdk.ErrUnauthorized, "second factor"},
		"single sign-on without a login": {scene{config: signOnNow}, sdk.ErrUnauthorized,
			`the AWS profile "default" is not logged in: open `},
		"single sign-on that ended": {scene{config: signOnOld, session: "ended"}, sdk.ErrUnauthorized,
			"run aws sso login --profile default where its files are"},
		"single sign-on that is refused": {scene{
			config: signOnNow, session: "good", lost: map[string]int{"sso": 401},
		}, sdk.ErrUnauthorized, `AWS single sign-on refused the session of the profile "default": `},
		"single sign-on not renewed": {scene{
			config: signOnNow, session: "ended", lost: map[string]int{"sso-oidc": 400},
		}, sdk.ErrUnauthorized, "run aws sso login --profile default"},
		"single sign-on that fails": {scene{
			config: signOnNow, session: "good", lost: map[string]int{"sso": 503},
		}, sdk.ErrUnavailable, "AWS single sign-on failed: "},
		"single sign-on half configured": {scene{config: "[default]\nsso_session=me"}, sdk.ErrUnauthorized, "me"},
		"a console login that is missing": {scene{config: signIn}, sdk.ErrUnauthorized,
			"run aws login --profile default where its files are"},
		"a console login that is refused": {scene{
			config: signIn, session: "ended", lost: map[string]int{"signin": 403},
		}, sdk.ErrUnauthorized, "run aws login --profile default"},
		"a file that is a folder": {scene{env: map[string]string{"AWS_CONFIG_FILE": "{home}"}},
			sdk.ErrUnauthorized, "read the AWS configuration "},
		"an unknown source": {scene{config: "[default]\nrole_arn=arn:r\ncredential_source=Elsewhere"},
			sdk.ErrUnauthorized, "credential_source values must be EcsContainer, Ec2InstanceMetadata, or Environment"},
		"variables that are not set": {scene{config: "[default]\nrole_arn=arn:r\ncredential_source=Environment"},
			sdk.ErrUnauthorized, "which are not set"},
		"a process that says nonsense": {scene{config: "[default]\ncredential_process=sh {home}/odd-process"},
			sdk.ErrUnauthorized, `the credential_process of the AWS profile "default" gave no credentials`},
		"a web identity without a role": {scene{
			env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/web-token"},
		}, sdk.ErrUnauthorized, "AWS_ROLE_ARN is required"},
		"a web identity without a file": {scene{
			env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/gone", "AWS_ROLE_ARN": "arn:r"},
		}, sdk.ErrUnauthorized, "unable to read file at "},
		"a web identity that is refused": {scene{
			env:  map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/web-token", "AWS_ROLE_ARN": "arn:r"},
			lost: map[string]int{"sts AssumeRoleWithWebIdentity": 403},
		}, sdk.ErrUnauthorized, "the AWS token service refused to give the role arn:r: "},
		"a role that is refused": {scene{
			o:    Options{AccessKeyID: "OPTION", SecretAccessKey: leak, RoleARN: "arn:aws:iam::1:role/mine"},
			lost: map[string]int{"sts AssumeRole": 403},
		}, sdk.ErrUnauthorized, "the AWS token service refused to give the role arn:aws:iam::1:role/mine: "},
		"a token service that fails": {scene{
			o:    Options{AccessKeyID: "OPTION", SecretAccessKey: leak, RoleARN: "arn:r"},
			lost: map[string]int{"sts AssumeRole": 503},
		}, sdk.ErrUnavailable, "the AWS token service failed: "},
		"a container's endpoint elsewhere": {scene{
			env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://10.0.0.1/container"},
		}, sdk.ErrUnauthorized, "only loopback/ecs/eks hosts are allowed"},
		"a container that is refused": {scene{
			env:  map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "{cloud}/container"},
			lost: map[string]int{"container": 403},
		}, sdk.ErrUnauthorized, "the credentials endpoint of the container refused us: 403 forbidden; "},
		"the registry's API refuses": {scene{
			keys: "[default]\naws_access_key_id=FILE\naws_secret_access_key=" + leak, lost: map[string]int{"ecr": 403},
		}, sdk.ErrUnauthorized, "the ECR API in eu-west-1 refused the credentials: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.play(t)
			if err == nil || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), leak) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("error %q", err)
			}
		})
	}
}

// Redirects of services of the machine are not followed: they would take the token along.
func TestLocalServicesDoNotRedirect(t *testing.T) {
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer elsewhere.Close()
	near := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer near.Close()
	_, err := scene{
		env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": near.URL, "AWS_CONTAINER_AUTHORIZATION_TOKEN": leak},
	}.play(t)
	if err == nil || reached {
		t.Errorf("error %v, redirected %v", err, reached)
	}
}

// The SDK's tables of schemas would stay in the memory of every process of the program.
func TestLinksNoTables(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command here")
	}
	list := exec.Command("go", "list", "-deps", ".")
	list.Env = machine
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for linked := range strings.Lines(string(out)) {
		if linked = strings.TrimSpace(linked); strings.HasPrefix(linked, "github.com/aws/aws-sdk-go-v2/service/") &&
			strings.HasSuffix(linked, "/schemas") {
			t.Errorf("%s is linked; keep the AWS modules as they are, or see docs/benchmarks.md for what that costs", linked)
		}
	}
}
