package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Sample returns what a sender sends when a tag of an image was pushed, with the secret
// of the hook as that sender has it, for a test. Each is a push of its own. Senders
// that know their own images only refuse others. The secret of those that can do nothing
// but call an address is returned as a header, too.
func Sample(format, image, secret string) (http.Header, []byte, error) {
	target, err := named(image)
	if err != nil {
		return nil, nil, fmt.Errorf("%q is no image, such as ghcr.io/owner/name", image)
	}
	id := rand.Text()
	owner, name, _ := strings.Cut(target.Name, "/")
	type object = map[string]any
	event := object{
		"id": id, "action": "push",
		"target": object{
			"mediaType": "application/vnd.oci.image.index.v1+json", "repository": target.Name, "tag": "latest",
		}, "request": object{"host": target.Host},
	}
	header := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + secret}}
	var body any
	switch format {
	case "plain":
		body = object{"image": target.String(), "id": id}
	case "dockerhub":
		body = object{"push_data": object{"tag": "latest", "pusher": id}, "repository": object{"repo_name": target.Name}}
	case "quay":
		body = object{"docker_url": target.String(), "updated_tags": []string{"latest"}, "name": id}
	case "harbor":
		body = object{
			"type": "PUSH_ARTIFACT", "operator": id,
			"event_data": object{"resources": []object{{"tag": "latest", "resource_url": target.String() + ":latest"}}},
		}
	case "acr":
		body = event
	case "distribution":
		body = object{"events": []object{event}}
	case "eventgrid":
		body = []object{{"id": id, "eventType": "Microsoft.ContainerRegistry.ImagePushed", "data": event}}
	case "gitlab":
		header.Set("X-Gitlab-Event", "Pipeline Hook")
		header.Set("X-Gitlab-Token", secret)
		header.Del("Authorization")
		body = object{
			"object_kind": "pipeline", "object_attributes": object{"status": "success", "id": id},
			"project": object{"path_with_namespace": target.Name, "web_url": "https://gitlab.com/" + target.Name},
		}
	case "ghcr":
		header.Set("X-GitHub-Event", "package")
		header.Set("X-GitHub-Delivery", id)
		body = object{
			"action": "published", "id": id, "package": object{"name": name, "namespace": owner, "package_type": "CONTAINER"},
		}
	case "gitea":
		header.Set("X-Gitea-Event", "package")
		header.Set("X-Gitea-Delivery", id)
		body = object{
			"action": "created", "id": id,
			"package": object{
				"type": "container", "name": name, "owner": object{"login": owner}, "html_url": "https://" + target.Host + "/" + owner,
			},
		}
	default:
		return nil, nil, fmt.Errorf("there is no format %q: want one of %s", format, strings.Join(Formats(), ", "))
	}
	wants := map[string]string{
		"ghcr": "ghcr.io", "dockerhub": "docker.io", "quay": "quay.io", "gitlab": "registry.gitlab.com",
	}
	if host, only := wants[format]; only && host != target.Host {
		return nil, nil, fmt.Errorf("a push of %s is about images of %s, not of %s", format, host, target.Host)
	}
	text, err := json.Marshal(body)
	if slices.Contains([]string{"ghcr", "gitea"}, format) {
		sign := hmac.New(sha256.New, []byte(secret))
		sign.Write(text)
		header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(sign.Sum(nil)))
		header.Del("Authorization")
	}
	return header, text, err
}
