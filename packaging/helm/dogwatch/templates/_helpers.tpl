{{- define "dogwatch.name" -}}
{{- .Values.nameOverride | default (contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name)) | trunc 53 | trimSuffix "-" -}}
{{- end }}

{{- define "dogwatch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dogwatch.labels" -}}
{{ include "dogwatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "dogwatch.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- /* A value as text; numbers in values are float64, of which large ones would be 1e+06. */ -}}
{{- define "dogwatch.text" -}}
{{- kindIs "float64" . | ternary (int64 .) . -}}
{{- end }}

{{- /* The variables that follow from the other values; those of env stand above them. */ -}}
{{- define "dogwatch.env" -}}
{{- $name := include "dogwatch.name" . -}}
{{- $env := dict "DOGWATCH_SERVER_ALLOWEDHOSTS" (printf "%s.%s,%s.%s.svc" $name .Release.Namespace $name .Release.Namespace) -}}
{{- range .Values.watchers -}}
{{- $of := printf "DOGWATCH_WATCHER_%s_" (upper .name) -}}
{{- $_ := set $env (print $of "HOST") .host -}}
{{- with .port }}{{ $_ := set $env (print $of "PORT") . }}{{ end -}}
{{- with .cron }}{{ $_ := set $env (print $of "CRON") . }}{{ end -}}
{{- if .update }}{{ $_ := set $env (print $of "UPDATE") true }}{{ end -}}
{{- if .tls -}}
{{- $folder := print "/run/engines/" .name -}}
{{- $_ := set $env (print $of "CAFILE") (print $folder "/ca.pem") -}}
{{- if dig "client" true .tls -}}
{{- $_ := set $env (print $of "CERTFILE") (print $folder "/cert.pem") -}}
{{- $_ := set $env (print $of "KEYFILE") (print $folder "/key.pem") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.cluster -}}
{{- if .enabled -}}
{{- $of := "DOGWATCH_WATCHER_KUBERNETES_CLUSTER_" -}}
{{- $_ := set $env (print $of "SERVER") "https://kubernetes.default.svc" -}}
{{- with .namespaces }}{{ $_ := set $env (print $of "NAMESPACES") (join "," .) }}{{ end -}}
{{- if .update }}{{ $_ := set $env (print $of "UPDATE") true }}{{ end -}}
{{- if .pullSecrets }}{{ $_ := set $env (print $of "PULLSECRETS") true }}{{ end -}}
{{- if .lease }}{{ $_ := set $env "DOGWATCH_LEASE_NAME" $name }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if .Values.login.user -}}
{{- $_ := set $env "DOGWATCH_AUTH_BASIC_MAIN_USER" .Values.login.user -}}
{{- $_ := set $env "DOGWATCH_AUTH_BASIC_MAIN_HASH__FILE" "/run/login/hash" -}}
{{- end -}}
{{- if .Values.ingress.enabled -}}
{{- $_ := set $env "DOGWATCH_PUBLIC_URL" (printf "%s://%s/" (ternary "https" "http" .Values.ingress.https) .Values.ingress.host) -}}
{{- end -}}
{{- range $key, $value := mergeOverwrite $env .Values.env }}
- name: {{ $key }}
  value: {{ include "dogwatch.text" $value | quote }}
{{- end }}
{{- end }}

{{- /* What the watcher of the cluster may do. */ -}}
{{- define "dogwatch.rules" -}}
{{- $verbs := .Values.cluster.update | ternary "list, watch, patch" "list, watch" -}}
- {apiGroups: [apps], resources: [deployments, statefulsets, daemonsets], verbs: [{{ $verbs }}]}
- {apiGroups: [batch], resources: [cronjobs], verbs: [{{ $verbs }}]}
- {apiGroups: [""], resources: [pods], verbs: [list, watch]}
{{- if .Values.cluster.update }}
- {apiGroups: [""], resources: [pods/log], verbs: [get]}
{{- end }}
{{- if .Values.cluster.pullSecrets }}
- {apiGroups: [""], resources: [secrets, serviceaccounts], verbs: [get]}
{{- end }}
{{- end }}
