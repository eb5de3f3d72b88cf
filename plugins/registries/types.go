package registries

import (
	"slices"

	"github.com/dogwatch/dogwatch/internal/reference"
	"github.com/dogwatch/dogwatch/plugins/registries/internal/oci"
	"github.com/dogwatch/dogwatch/sdk/registry"
)

// The options of the types: how to log in, where the registries are, how requests travel.
type (
	acrOptions struct {
		azure
		known
		connection
	}
	// accountKnown is for registries under names that are known.
	accountKnown struct {
		account
		known
		connection
	}
	// accountFixed is for one registry under a name that is known.
	accountFixed struct {
		account
		fixed
		connection
	}
	// accountOwn is for a registry at an address of the operator's.
	accountOwn struct {
		account
		own
		connection
	}
	docrOptions struct {
		soleToken
		fixed
		connection
	}
	genericOptions struct {
		anonymous
		known
		connection
	}
	ghcrOptions struct {
		githubUser
		known
		connection
	}
	gitlabOptions struct {
		gitlabToken
		gitlab
		connection
	}
	googleOptions struct {
		google
		known
		connection
	}
	hubOptions struct {
		hubAccount
		fixed
		connection
	}
	ibmOptions struct {
		apiKey
		known
		connection
	}
	// gatewayOptions is for names in front of the registry of GitHub.
	gatewayOptions struct {
		githubUser
		fixed
		connection
	}
	quayOptions struct {
		robot
		known
		connection
	}
)

// rows returns the types that need no code of their own. The public instances
// are those that What's Up Docker has without configuration; other public
// registries need none, since oci serves every host.
func rows(shared *oci.Shared) []registry.Type {
	return slices.Concat(servers(shared), services(shared))
}

// servers are the types of registries at an address that the operator gives, or
// of one default address.
func servers(shared *oci.Shared) []registry.Type {
	return []registry.Type{
		define[accountOwn](shared, row{
			name: "artifactory", summary: "JFrog Artifactory",
			docs: "https://jfrog.com/help/r/jfrog-artifactory-documentation/docker-registry",
			help: map[string]string{
				"password": "Password, reference token, identity token or API key of the user",
				"url":      "Address of the registry, such as https://example.jfrog.io",
			},
			example: map[string]string{"url": "https://example.jfrog.io"},
		}),
		define[accountOwn](shared, row{
			name: "codeberg", summary: "Codeberg", address: "https://codeberg.org", public: true,
			docs: "https://docs.codeberg.org/advanced/using-packages/",
			help: map[string]string{"password": "Password, or access token with read:package"},
		}),
		define[accountOwn](shared, row{
			name: "custom", summary: "A registry at an address of your own",
			docs: "https://distribution.github.io/distribution/",
		}),
		define[accountOwn](shared, row{
			name: "forgejo", summary: "Forgejo", address: "https://code.forgejo.org", public: true,
			docs: "https://forgejo.org/docs/latest/user/packages/container/",
			help: map[string]string{"password": "Password, or access token with read:package"},
		}),
		define[accountOwn](shared, row{
			name: "gitea", summary: "Gitea",
			docs: "https://docs.gitea.com/usage/packages/container",
			help: map[string]string{
				"password": "Password, or access token with read:package",
				"url":      "Address of Gitea, such as https://git.example.com",
			},
			example: map[string]string{"url": "https://git.example.com"},
		}),
		define[gitlabOptions](shared, row{
			name: "gitlab", summary: "GitLab Container Registry", address: "https://registry.gitlab.com",
			docs: "https://docs.gitlab.com/user/packages/container_registry/authenticate_with_container_registry/",
		}),
		define[accountOwn](shared, row{
			name: "harbor", summary: "Harbor",
			docs: "https://goharbor.io/docs/latest/working-with-projects/",
			help: map[string]string{
				"login":    "User or robot account; in a compose file the $ of robot$name is written $$",
				"password": "Password, CLI secret or secret of the robot account",
				"url":      "Address of Harbor, such as https://harbor.example.com",
			},
			example: map[string]string{"login": "robot-reader", "url": "https://harbor.example.com"},
		}),
		define[gitlabOptions](shared, row{
			name: "mau", summary: "mau.dev Container Registry", address: "https://dock.mau.dev",
			docs: "https://docs.gitlab.com/user/packages/container_registry/authenticate_with_container_registry/",
		}),
		define[accountOwn](shared, row{
			name: "nexus", summary: "Sonatype Nexus Repository",
			docs: "https://help.sonatype.com/en/docker-registry.html",
			help: map[string]string{
				"password": "Password, or pass code of a user token",
				"url":      "Address of the Docker connector, such as https://nexus.example.com:5000",
			},
			example: map[string]string{"url": "https://nexus.example.com:5000"},
		}),
	}
}

// services are the types of registries whose hosts have known names.
func services(shared *oci.Shared) []registry.Type {
	return []registry.Type{
		define[acrOptions](shared, row{
			name: "acr", summary: "Azure Container Registry",
			docs:  "https://learn.microsoft.com/azure/container-registry/container-registry-authentication",
			hosts: []string{"*.azurecr.io", "*.azurecr.cn", "*.azurecr.us"},
		}),
		define[accountKnown](shared, row{
			name: "alicr", summary: "Alibaba Cloud Container Registry",
			docs:  "https://www.alibabacloud.com/help/en/acr/user-guide/configure-access-credentials",
			hosts: alibabaHosts(),
			help: map[string]string{
				"login":    "Alibaba Cloud account or RAM user",
				"password": "Access credential of the registry, which is not the password of the account",
			},
		}),
		define[accountFixed](shared, row{
			name: "dhi", summary: "Docker Hardened Images", hosts: []string{"dhi.io"}, tokenHosts: []string{hubTokens},
			docs: "https://docs.docker.com/dhi/how-to/use/",
			help: map[string]string{
				"login":    "Docker ID, or name of the organization of an organization access token",
				"password": "Password or access token of Docker Hub",
			},
		}),
		define[docrOptions](shared, row{
			name: "docr", summary: "DigitalOcean Container Registry", hosts: []string{"registry.digitalocean.com"},
			docs: "https://docs.digitalocean.com/products/container-registry/how-to/use-registry-docker-kubernetes/",
		}),
		define[googleOptions](shared, row{
			name: "gar", summary: "Google Artifact Registry", hosts: []string{"*.pkg.dev"},
			docs: "https://cloud.google.com/artifact-registry/docs/docker/authentication",
		}),
		define[googleOptions](shared, row{
			name: "gcr", summary: "Google Container Registry", hosts: []string{"gcr.io", "*.gcr.io"}, public: true,
			docs: "https://cloud.google.com/artifact-registry/docs/docker/authentication",
		}),
		define[ghcrOptions](shared, row{
			name: "ghcr", summary: "GitHub Container Registry", hosts: []string{github, "*." + github}, public: true,
			image: github + "/home-assistant/home-assistant:stable",
			docs:  "https://docs.github.com/packages/working-with-a-github-packages-registry/working-with-the-container-registry",
		}),
		defineHub(shared, row{
			name: "hub", summary: "Docker Hub", public: true,
			docs:  "https://docs.docker.com/docker-hub/",
			hosts: []string{"docker.io", "index.docker.io", "registry-1.docker.io"},
			image: "docker.io/library/hello-world:latest",
			// docker.io itself is a web site.
			api: "https://registry-1.docker.io/v2", tokenHosts: []string{hubTokens},
		}),
		define[ibmOptions](shared, row{
			name: "ibmcr", summary: "IBM Cloud Container Registry", hosts: []string{"icr.io", "*.icr.io"},
			docs: "https://cloud.ibm.com/docs/Registry?topic=Registry-registry_access",
		}),
		define[gatewayOptions](shared, row{
			name: "lscr", summary: "LinuxServer.io", hosts: []string{"lscr.io"}, tokenHosts: []string{github},
			docs: "https://docs.linuxserver.io/",
		}),
		define[genericOptions](shared, row{
			name: "oci", summary: "Any public registry, without configuration", hosts: []string{reference.AnyHost}, public: true,
			docs:    "https://github.com/opencontainers/distribution-spec",
			example: map[string]string{"hosts": "registry.example.org", "mirror": "https://cache.example.com"},
		}),
		define[accountKnown](shared, row{
			name: "ocir", summary: "Oracle Cloud Infrastructure Registry", hosts: []string{"ocir.io", "*.ocir.io"},
			docs: "https://docs.oracle.com/en-us/iaas/Content/Registry/Tasks/registrypullingimagesusingthedockercli.htm",
			help: map[string]string{
				"login":    "User with the namespace of the tenancy: namespace/user, or namespace/domain/user",
				"password": "Auth token of the user",
				"hosts":    "Serve only these hosts; without it, all of ocir.io. Name hosts such as ocir.eu-frankfurt-1.oci.oraclecloud.com here",
			},
			example: map[string]string{"login": "namespace/ana"},
		}),
		define[quayOptions](shared, row{
			name: "quay", summary: "Quay.io", hosts: []string{"quay.io", "*.quay.io"}, public: true,
			image: "quay.io/prometheus/prometheus:latest",
			docs:  "https://docs.quay.io/glossary/robot-accounts.html",
		}),
		define[gatewayOptions](shared, row{
			name: "trueforge", summary: "TrueForge", hosts: []string{"oci.trueforge.org"}, tokenHosts: []string{github},
			docs: "https://trueforge.org/",
		}),
	}
}

const (
	// hubTokens is the token service of Docker, also for a cache in front of Docker Hub.
	hubTokens = "auth.docker.io"
	// github is the registry behind which gateways have theirs.
	github = "ghcr.io"
)

// alibabaHosts returns the hosts of Alibaba's registries
// (https://www.alibabacloud.com/help/en/acr/user-guide/individual-edition-instance-independent-domain-name-capacity-limit):
// those of instances, and the older ones of all regions. These have no suffix of
// their own: any client may have a bucket at registry.oss-REGION.aliyuncs.com.
func alibabaHosts() []string {
	regions := []string{
		"cn-beijing", "cn-chengdu", "cn-guangzhou", "cn-hangzhou", "cn-heyuan", "cn-hongkong", "cn-huhehaote", "cn-nanjing",
		"cn-qingdao", "cn-shanghai", "cn-shenzhen", "cn-wulanchabu", "cn-zhangjiakou",
		"ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3",
		"ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
		"eu-central-1", "eu-west-1", "me-central-1", "me-east-1", "us-east-1", "us-west-1",
	}
	hosts := []string{"*.cr.aliyuncs.com"}
	for _, region := range regions {
		for _, network := range []string{"registry", "registry-vpc", "registry-internal", "registry-intl"} {
			hosts = append(hosts, network+"."+region+".aliyuncs.com")
		}
	}
	return hosts
}
