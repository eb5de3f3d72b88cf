// Package kafka writes containers as records to a topic of Apache Kafka, or of
// anything that speaks its protocol: https://kafka.apache.org/protocol.
package kafka

import (
	"context"
	"crypto/tls"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/httpclient"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

const (
	// attempts is how often a request is made before its error is returned, about three
	// seconds for a broker that does not listen. The host retries later.
	attempts = 3
	// idle is how long an unused connection is kept.
	idle = 30 * time.Second
	// refresh is how often the client requests the metadata of the cluster while no call
	// uses it, the longest that the library allows.
	refresh = time.Hour
)

// Options configures one kafka trigger.
type Options struct {
	Brokers        []string       `option:"brokers,required" help:"Addresses of brokers as host:port, separated by commas; the others are learnt from them" example:"kafka-1:9092,kafka-2:9092"`
	Topic          string         `option:"topic" default:"wud-container" help:"Topic to write to; it must exist"`
	ClientID       string         `option:"clientid" default:"wud" help:"Name under which the brokers know the client"`
	SSL            bool           `option:"ssl" default:"false" help:"Encrypt connections, as the tls options say"`
	TLS            httpclient.TLS `option:"tls"`
	Authentication Authentication `option:"authentication"`
	Timeout        time.Duration  `option:"timeout" default:"30s" help:"Longest time for one delivery"`
}

// Authentication is how to log in.
type Authentication struct {
	Type     string `option:"type" default:"PLAIN" choices:"PLAIN,SCRAM-SHA-256,SCRAM-SHA-512" help:"How the password is shown to the brokers, when there is one"`
	User     string `option:"user" help:"User name, with authentication.password"`
	Password string `option:"password,secret" help:"Password of authentication.user"`
}

// Type is what the bundle lists.
func Type() trigger.Type {
	return trigger.Define("kafka", "Write a record to a Kafka topic", New,
		kind.Docs("https://kafka.apache.org/documentation/"))
}

type kafka struct {
	connection *connection
	brokers    string
	topic      string
	user       string
	password   string
	timeout    time.Duration
}

// New returns a trigger that writes to one topic.
func New(env sdk.Env, o Options) (trigger.Trigger, error) {
	if !isTopic(o.Topic) {
		return nil, sdk.Invalid("topic", "want 1 to 249 letters, digits, '.', _ or -, got %q", o.Topic)
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(o.Brokers...), kgo.DefaultProduceTopic(o.Topic), kgo.ClientID(o.ClientID),
		kgo.RequestRetries(attempts), kgo.RecordRetries(attempts), kgo.UnknownTopicRetries(attempts),
		kgo.ConnIdleTimeout(idle), kgo.MetadataMaxAge(refresh), kgo.MetadataMinAge(250 * time.Millisecond),
		kgo.DisableClientMetrics(),
		// A lost delivery is repeated by the host, under the same idempotency
		// key. What the client could remember of it for the brokers ends with
		// the process, and would need one more permission.
		kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()),
	}
	config, err := tlsConfig(env, o)
	if err != nil {
		return nil, err
	}
	if config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	mechanism, err := o.Authentication.mechanism()
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	if err := kgo.ValidateOpts(options...); err != nil {
		return nil, sdk.Invalid("brokers", "want host:port, such as kafka:9092, got %q", strings.Join(o.Brokers, ","))
	}
	return &kafka{
		connection: &connection{options: options}, brokers: strings.Join(o.Brokers, ","), topic: o.Topic,
		user: o.Authentication.User, password: o.Authentication.Password, timeout: o.Timeout,
	}, nil
}

// tlsConfig is the encryption of the options, nil for none.
func tlsConfig(env sdk.Env, o Options) (*tls.Config, error) {
	if !o.SSL {
		for name, set := range map[string]bool{
			"tls.cafile": o.TLS.CAFile != "", "tls.certfile": o.TLS.CertFile != "", "tls.keyfile": o.TLS.KeyFile != "",
			"tls.insecure": o.TLS.Insecure,
		} {
			if set {
				return nil, sdk.Invalid("ssl", "is false, so %s has no effect; set ssl to true", name)
			}
		}
		return nil, nil
	}
	if o.TLS.Insecure && env.Warn != nil {
		env.Warn("tls.insecure: certificates are not verified; prefer tls.cafile")
	}
	return o.TLS.Config()
}

// mechanism is the login of the options, nil for none.
func (a Authentication) mechanism() (sasl.Mechanism, error) {
	switch {
	case a.User == "" && a.Password == "":
		return nil, nil
	case a.User == "":
		return nil, sdk.Invalid("authentication.user", "is required with authentication.password")
	case a.Password == "":
		return nil, sdk.Invalid("authentication.password", "is required with authentication.user")
	}
	switch a.Type {
	case "SCRAM-SHA-256":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha512Mechanism(), nil
	}
	return plain.Auth{User: a.User, Pass: a.Password}.AsMechanism(), nil
}

// isTopic is what brokers accept as the name of a topic.
func isTopic(name string) bool {
	return name != "" && len(name) <= 249 && name != "." && name != ".." && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '.' && c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// Run writes one record per container and returns when all replicas in sync have them.
func (k *kafka) Run(ctx context.Context, req trigger.Request) error {
	all, err := records(req)
	if err != nil {
		return err
	}
	if k.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, k.timeout)
		defer stop()
	}
	return k.connection.use(ctx, func(c *client) error { return k.write(ctx, c, all) })
}

// Close ends the connections.
func (k *kafka) Close() error {
	k.connection.end()
	return nil
}

// write makes sure that the topic can be written to, and writes to it.
func (k *kafka) write(ctx context.Context, c *client, all []*kgo.Record) error {
	if err := k.look(ctx, c.Client); err != nil {
		return k.explain(ctx, "ask for the topic "+k.topic, err, nil)
	}
	if err := c.ProduceSync(ctx, all...).FirstErr(); err != nil {
		return k.explain(ctx, "write to the topic "+k.topic, err, c.lastFailure())
	}
	return nil
}

// look requests the metadata of the topic. An attempt to write to brokers that
// refuse or do not respond would only end with a timeout.
func (k *kafka) look(ctx context.Context, client *kgo.Client) error {
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(k.topic)
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, t := range response.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return err
		}
	}
	return nil
}
