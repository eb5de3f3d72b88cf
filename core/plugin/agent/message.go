package agent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The application protocols, by which one side tells the other what a connection is for.
const (
	protocolJoin  = "dogwatch-agent-join/1"
	protocolRenew = "dogwatch-agent-renew/1"
	protocolLink  = "dogwatch-agent-link/1"
	// protocolProbe is for an agent that only wants to know whether it would be taken.
	protocolProbe = "dogwatch-agent-probe/1"
)

// hello is the first message of an agent, in all of these protocols.
type hello struct {
	// Version is that of the agent's program.
	Version string `json:"version"`
	// Token is the id of the token to join with, and Secret its secret.
	Token  string `json:"token,omitempty"`
	Secret []byte `json:"secret,omitempty"`
	// Name is what the agent wants to be called.
	Name string `json:"name,omitempty"`
	// Updates is whether the agent's program can update; those of before could not.
	Updates bool `json:"updates,omitempty"`
	// ReadOnly, Stacks, Hooks and Logs are the limits of the owner of the host.
	ReadOnly string   `json:"readOnly,omitempty"`
	Stacks   []string `json:"stacks,omitempty"`
	Hooks    bool     `json:"hooks,omitempty"`
	Logs     bool     `json:"logs,omitempty"`
	// Request is a request for a certificate (PKCS #10), to join or to renew.
	Request []byte `json:"request,omitempty"`
}

// welcome is the controller's answer.
type welcome struct {
	// Error says why it takes no part in what the agent wants; the rest is empty then.
	Error string `json:"error,omitempty"`
	// Name is what the agent is called.
	Name string `json:"name,omitempty"`
	// Certificate is the one that was asked for, in DER.
	Certificate []byte `json:"certificate,omitempty"`
	// Version is that of the controller.
	Version string `json:"version,omitempty"`
}

// maxMessage bounds such a message, in bytes.
const maxMessage = 16 << 10

// send writes a message: its length in four bytes, and JSON.
func send(w io.Writer, m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long", len(text))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// receive reads a message that send has written.
func receive[T any](r io.Reader) (m T, err error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxMessage {
		return m, errors.New("the first message is too long: the other side is no Dogwatch")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}
