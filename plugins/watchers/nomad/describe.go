package nomad

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dogwatch/dogwatch/plugins/watchers/nomad/internal/api"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// row is a container with the task that it is.
type row struct {
	watcher.Container
	target target
}

// describe makes the containers that the host sees, sorted by id.
func describe(all []*mirror) []watcher.Container {
	list := []watcher.Container{}
	for _, r := range rows(all) {
		list = append(list, r.Container)
	}
	return list
}

// rows makes the containers with their tasks, sorted by id.
func rows(all []*mirror) (list []row) {
	ids := map[string]int{}
	for _, m := range all {
		m.Each(func(of key, job api.Job) {
			for _, group := range job.TaskGroups {
				for _, task := range group.Tasks {
					image, is := imageOf(task)
					if !is {
						continue
					}
					c := containerOf(of, job, group, task, image)
					ids[c.ID]++
					list = append(list, row{c, target{job: of, group: group.Name, task: task.Name}})
				}
			}
		})
	}
	for i, r := range list {
		if ids[r.ID] > 1 { // names may have underscores
			t := r.target
			sum := sha256.Sum256([]byte(strings.Join([]string{t.job.namespace, t.job.id, t.group, t.task}, "\x00")))
			list[i].ID += "_" + hex.EncodeToString(sum[:4])
		}
	}
	slices.SortFunc(list, func(a, b row) int { return cmp.Compare(a.ID, b.ID) })
	names := map[string]int{}
	for _, c := range list {
		names[c.Name]++
	}
	for i := range list {
		if names[list[i].Name] > 1 {
			list[i].Name = list[i].ID
		}
	}
	return list
}

// imageOf returns the image of a task of a driver that runs containers.
func imageOf(task api.Task) (string, bool) {
	image, is := task.Config.Image.(string)
	return image, is && image != "" && (task.Driver == "docker" || task.Driver == "podman")
}

// containerOf makes one container. Nomad does not say which digest a tag had on a node, so that it is known of an image
// with a digest alone.
func containerOf(of key, job api.Job, group api.Group, task api.Task, text string) watcher.Container {
	name := of.namespace + "_" + of.id
	if group.Name != of.id {
		name += "_" + group.Name
	}
	if task.Name != group.Name {
		name += "_" + task.Name
	}
	c := watcher.Container{
		ID: strings.Join([]string{of.namespace, of.id, group.Name, task.Name}, "_"), Name: name,
		Status: job.Status, Labels: settings(job.Meta, group.Meta, task.Meta),
	}
	if job.Stop {
		c.Status = "dead"
	}
	if job.SubmitTime > 0 {
		c.Created = sdk.TimeOf(time.Unix(0, job.SubmitTime))
	}
	image, err := watcher.ParseImage(withoutTransport(text))
	switch {
	case strings.Contains(text, "${"):
		c.Error = fmt.Sprintf("the image %.100q has a variable, which Nomad replaces on the node of the task: "+
			"write the image into the job, or use a variable of HCL, which is replaced when the job is registered", text)
	case err != nil:
		c.Error = fmt.Sprintf("the image %.100q: %v", text, err)
	}
	if c.Error != "" {
		image = watcher.Image{Name: text}
	}
	image.ID = image.Digest
	c.Image = image
	return c
}

// settings are the meta of a task that are settings, over those of its group, over those of its job. Others do not
// leave the plugin: they are for the task.
func settings(metas ...map[string]string) map[string]string {
	labels := map[string]string{}
	for _, meta := range metas {
		for name, value := range meta {
			for _, prefix := range []string{"dogwatch.", "wud.", "diun."} {
				if strings.HasPrefix(name, prefix) {
					labels[name] = value
				}
			}
		}
	}
	return labels
}
