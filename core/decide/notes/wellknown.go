package notes

import "strings"

// wellKnown are repositories of GitHub with the releases of images, each in a line behind
// the short name of the image. Their labels name none, or that of their Dockerfile, which has
// no releases. It is a text and no map, as every process of Dogwatch would pay for that.
const wellKnown = `
actualbudget/actual-server actualbudget/actual
adguard/adguardhome AdguardTeam/AdGuardHome
adminer vrana/adminer
amir20/dozzle amir20/dozzle
authelia/authelia authelia/authelia
b4bz/homer bastienwirtz/homer
binwiederhier/ntfy binwiederhier/ntfy
bitnami/redis redis/redis
caddy caddyserver/caddy
cloudflare/cloudflared cloudflare/cloudflared
codercom/code-server coder/code-server
consul hashicorp/consul
containrrr/watchtower containrrr/watchtower
couchdb apache/couchdb
crazymax/diun crazy-max/diun
crowdsecurity/crowdsec crowdsecurity/crowdsec
deluan/navidrome navidrome/navidrome
dgtlmoon/changedetection.io dgtlmoon/changedetection.io
directus/directus directus/directus
drakkan/sftpgo drakkan/sftpgo
eclipse-mosquitto eclipse-mosquitto/mosquitto
elasticsearch elastic/elasticsearch
emqx/emqx emqx/emqx
esphome/esphome esphome/esphome
fallenbagel/jellyseerr Fallenbagel/jellyseerr
filebrowser/filebrowser filebrowser/filebrowser
fireflyiii/core firefly-iii/firefly-iii
freshrss/freshrss FreshRSS/FreshRSS
gcr.io/cadvisor/cadvisor google/cadvisor
getmeili/meilisearch meilisearch/meilisearch
getwud/wud getwud/wud
ghcr.io/blakeblackshear/frigate blakeblackshear/frigate
ghcr.io/goauthentik/server goauthentik/authentik
ghcr.io/home-assistant/home-assistant home-assistant/core
ghcr.io/immich-app/immich-machine-learning immich-app/immich
ghcr.io/immich-app/immich-server immich-app/immich
ghcr.io/paperless-ngx/paperless-ngx paperless-ngx/paperless-ngx
ghost TryGhost/Ghost
gitea/gitea go-gitea/gitea
golang golang/go
gotify/server gotify/server
grafana/alloy grafana/alloy
grafana/grafana grafana/grafana
grafana/grafana-oss grafana/grafana
grafana/loki grafana/loki
grafana/promtail grafana/loki
grafana/tempo grafana/tempo
hashicorp/consul hashicorp/consul
hashicorp/vault hashicorp/vault
headscale/headscale juanfont/headscale
homeassistant/home-assistant home-assistant/core
influxdb influxdata/influxdb
itzg/minecraft-server itzg/docker-minecraft-server
jc21/nginx-proxy-manager NginxProxyManager/nginx-proxy-manager
jellyfin/jellyfin jellyfin/jellyfin
kibana elastic/kibana
koenkk/zigbee2mqtt Koenkk/zigbee2mqtt
lissy93/dashy Lissy93/dashy
louislam/uptime-kuma louislam/uptime-kuma
matomo matomo-org/matomo
matrixdotorg/synapse element-hq/synapse
mattermost/mattermost-team-edition mattermost/mattermost
miniflux/miniflux miniflux/v2
minio/minio minio/minio
mongo-express mongo-express/mongo-express
n8nio/n8n n8n-io/n8n
nats nats-io/nats-server
netdata/netdata netdata/netdata
nextcloud nextcloud/server
nginx nginx/nginx
nocodb/nocodb nocodb/nocodb
node nodejs/node
nodered/node-red node-red/node-red
ollama/ollama ollama/ollama
paperlessngx/paperless-ngx paperless-ngx/paperless-ngx
photoprism/photoprism photoprism/photoprism
phpmyadmin phpmyadmin/phpmyadmin
pihole/pihole pi-hole/docker-pi-hole
portainer/portainer-ce portainer/portainer
prom/alertmanager prometheus/alertmanager
prom/blackbox-exporter prometheus/blackbox_exporter
prom/node-exporter prometheus/node_exporter
prom/prometheus prometheus/prometheus
qdrant/qdrant qdrant/qdrant
quay.io/keycloak/keycloak keycloak/keycloak
rabbitmq rabbitmq/rabbitmq-server
redis redis/redis
registry distribution/distribution
requarks/wiki requarks/wiki
rocketchat/rocket.chat RocketChat/Rocket.Chat
sctx/overseerr sct/overseerr
sissbruecker/linkding sissbruecker/linkding
stirlingtools/stirling-pdf Stirling-Tools/Stirling-PDF
syncthing/syncthing syncthing/syncthing
tailscale/tailscale tailscale/tailscale
telegraf influxdata/telegraf
traefik traefik/traefik
valkey/valkey valkey-io/valkey
vaultwarden/server dani-garcia/vaultwarden
vectorim/element-web element-hq/element-web
victoriametrics/victoria-metrics VictoriaMetrics/VictoriaMetrics
vikunja/vikunja go-vikunja/vikunja
wallabag/wallabag wallabag/wallabag
wekanteam/wekan wekan/wekan
`

// wellKnownRepository returns the path of the repository of a well-known image; "" for others.
func wellKnownRepository(image string) string {
	_, rest, found := strings.Cut(wellKnown, "\n"+image+" ")
	if image == "" || !found {
		return ""
	}
	path, _, _ := strings.Cut(rest, "\n")
	return path
}
