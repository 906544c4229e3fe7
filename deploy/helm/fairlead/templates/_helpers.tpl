{{- define "fairlead.fullname" -}}
{{- if contains "fairlead" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-fairlead" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "fairlead.selector" -}}
app.kubernetes.io/name: fairlead
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "fairlead.labels" -}}
{{ include "fairlead.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "fairlead.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "fairlead.fullname" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "fairlead.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{/* Checks and returns the database settings of a container. Takes a dict of the values and their name. */}}
{{- define "fairlead.databaseEnv" -}}
{{- $db := .database -}}
{{- if and $db.url $db.urlSecret.name }}{{ fail (printf "%s: set either url or urlSecret.name, not both" .name) }}{{ end -}}
{{- if $db.urlSecret.name -}}
- name: FAIRLEAD_DB_FILE
  value: /run/secrets/fairlead/database/{{ $db.urlSecret.key }}
{{- else if $db.url -}}
- name: FAIRLEAD_DB
{{- if $db.passwordSecret.name }}
  value: {{ printf "%s%spassword_file=/run/secrets/fairlead/database/%s" $db.url (ternary "&" "?" (contains "?" $db.url)) $db.passwordSecret.key | quote }}
{{- else }}
  value: {{ $db.url | quote }}
{{- end }}
{{- else -}}
{{ fail (printf "%s: set url and passwordSecret.name, or urlSecret.name" .name) }}
{{- end }}
{{- end }}

{{- define "fairlead.databaseSecret" -}}
{{ .urlSecret.name | default .passwordSecret.name }}
{{- end }}

{{- define "fairlead.databaseVolume" -}}
{{- with include "fairlead.databaseSecret" . -}}
- name: database
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end }}

{{- define "fairlead.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "fairlead.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
