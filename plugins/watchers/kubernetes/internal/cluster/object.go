package cluster

import "time"

// Object is an object of the API with the fields that a watcher reads, of whichever type it is. The rest is not kept:
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/
type Object struct {
	Metadata Metadata `json:"metadata"`
	Spec     Spec     `json:"spec"`
	Status   Status   `json:"status"`
}

// Metadata is what all objects have.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	ResourceVersion   string            `json:"resourceVersion"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"` // set while it is being removed
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []Owner           `json:"ownerReferences"`
}

// Owner is an object that another one belongs to.
type Owner struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Controller bool   `json:"controller"`
}

// Spec is that of a pod, or of what makes pods.
type Spec struct {
	PodSpec
	Replicas    *int     `json:"replicas"`
	Suspend     bool     `json:"suspend"`
	Template    Template `json:"template"`
	JobTemplate struct {
		Spec struct {
			Template Template `json:"template"`
		} `json:"spec"`
	} `json:"jobTemplate"`
}

// Template is what pods are made from.
type Template struct {
	Metadata Metadata `json:"metadata"`
	Spec     PodSpec  `json:"spec"`
}

// PodSpec is what runs in a pod, and where.
type PodSpec struct {
	NodeName       string      `json:"nodeName"`
	Containers     []Container `json:"containers"`
	InitContainers []Container `json:"initContainers"`
	ServiceAccount string      `json:"serviceAccountName"`
	PullSecrets    []Reference `json:"imagePullSecrets"`
}

// Container is a container of a pod.
type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// RestartPolicy is "Always" for an init container that runs as long as the pod: a sidecar.
	RestartPolicy string `json:"restartPolicy"`
	// Env, Command and Args may have secrets, which logs repeat.
	Env []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
}

// Status is that of a pod, or of what makes pods.
type Status struct {
	Phase                  string            `json:"phase"`
	Conditions             []Condition       `json:"conditions"`
	ReadyReplicas          int               `json:"readyReplicas"`
	DesiredNumberScheduled int               `json:"desiredNumberScheduled"`
	NumberReady            int               `json:"numberReady"`
	Active                 []struct{}        `json:"active"`
	ContainerStatuses      []ContainerStatus `json:"containerStatuses"`
	InitContainerStatuses  []ContainerStatus `json:"initContainerStatuses"`
}

// ContainerStatus is what the node says of a container.
type ContainerStatus struct {
	Name string `json:"name"`
	// ImageID is how the runtime of the node names the image: "docker.io/library/nginx@sha256:…", or "sha256:…".
	ImageID string `json:"imageID"`
	State   struct {
		// Waiting is why it does not run: "ImagePullBackOff"; empty while it runs.
		Waiting struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
		Running    *struct{}    `json:"running"`
		Terminated *Termination `json:"terminated"`
	} `json:"state"`
	LastState struct {
		Terminated *Termination `json:"terminated"`
	} `json:"lastState"`
}

// Termination is how a container ended. Its message, which may be the end of a log, is not kept.
type Termination struct {
	Reason   string `json:"reason"`
	ExitCode int    `json:"exitCode"`
}
