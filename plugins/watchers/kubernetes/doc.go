// Package kubernetes watches the workloads of a Kubernetes cluster: Deployments, StatefulSets, DaemonSets and CronJobs,
// and on request pods that belong to none, one row for each of their containers. Where its option update allows it, it
// changes one image by server-side apply, watches the rollout, and returns to the old image where that does not
// succeed; the cluster itself replaces the pods. Otherwise it only ever reads (list and watch).
//
// What comes in is a kubeconfig or the account of a pod; what goes out are containers with the settings that the
// annotations of their workloads have. While the host follows its events, a list costs no request.
//
// The packages in internal do the rest, and two that it shares with the other watchers of orchestrators:
//
//	cluster                   the client of the API server: kubeconfig, lists, watches, and what errors mean
//	informer                  keeps the objects in memory as they are in the cluster
//	../internal/mirrored      keeps what runs in memory, and notifies the host of what changes of it
//	../internal/orchestrated  carries out updates of a cluster, and returns to the old image
package kubernetes
