package kafka

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The account of the clusters that want a login, and the topic of all.
const (
	account  = "ana"
	password = "recognisable-password"
	topic    = "updates"
)

// cluster starts brokers that speak Kafka's protocol.
func cluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2), kfake.SeedTopics(3, topic)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func options(c *kfake.Cluster) map[string]any {
	return map[string]any{"brokers": strings.Join(c.ListenAddrs(), ", "), "topic": topic}
}

// withLogin starts brokers that want a login, and say so as Kafka does.
func withLogin(t *testing.T, mechanism string, more ...kfake.Opt) (*kfake.Cluster, map[string]any) {
	t.Helper()
	c := cluster(t, append(more, kfake.EnableSASL(), kfake.Superuser(mechanism, account, password))...)
	o := options(c)
	o["authentication.type"], o["authentication.user"], o["authentication.password"] = mechanism, account, password
	return c, o
}

// refuseLogins makes brokers respond to each login with an error that repeats what was sent.
func refuseLogins(c *kfake.Cluster) {
	c.ControlKey(kmsg.SASLAuthenticate.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		request := r.(*kmsg.SASLAuthenticateRequest)
		response := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		response.ErrorCode = kerr.SaslAuthenticationFailed.Code
		response.ErrorMessage = kmsg.StringPtr("Authentication failed: " + string(request.SASLAuthBytes))
		return response, nil, true
	})
}

// refuseRecords makes brokers respond to each record with an error.
func refuseRecords(c *kfake.Cluster, refusal *kerr.Error) {
	c.ControlKey(kmsg.Produce.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		request := r.(*kmsg.ProduceRequest)
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, t := range request.Topics {
			at := kmsg.NewProduceResponseTopic()
			at.Topic, at.TopicID = t.Topic, t.TopicID
			for _, p := range t.Partitions {
				in := kmsg.NewProduceResponseTopicPartition()
				in.Partition, in.ErrorCode = p.Partition, refusal.Code
				at.Partitions = append(at.Partitions, in)
			}
			response.Topics = append(response.Topics, at)
		}
		return response, nil, true
	})
}

// read returns the first n records of the topic.
func read(t *testing.T, c *kfake.Cluster, n int) []*kgo.Record {
	t.Helper()
	consumer, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var all []*kgo.Record
	for len(all) < n {
		fetched := consumer.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			t.Fatalf("read %d of %d records: %v", len(all), n, err)
		}
		all = append(all, fetched.Records()...)
	}
	return all
}
