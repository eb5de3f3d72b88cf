package sdk

import "context"

// Prober is an optional ability of an instance of any kind: it can say whether
// it is able to do its work. Users see what it says when they test a component,
// and in the findings of dogwatch doctor.
type Prober interface {
	// Probe tries the service behind the instance, cheaply and without side effects: it
	// sends no message and changes nothing. An error says why the instance cannot do its
	// work; see WithRemedy. It is called concurrently with other calls, and ends when ctx does.
	Probe(ctx context.Context, req ProbeRequest) (ProbeResult, error)
}

// ProbeRequest is what an instance is probed with.
type ProbeRequest struct {
	// Image is what a registry looks up, written in full: "docker.io/library/nginx:1.27".
	// "" lets the registry choose an image. Other kinds get none.
	Image string
}

// ProbeResult is what a successful probe found out.
type ProbeResult struct {
	// Summary describes in words what responded: "Docker/28.5.1 (linux), API 1.51".
	Summary string
	// Warnings say what works, though perhaps not as meant.
	Warnings []string
}
