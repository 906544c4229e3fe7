package deploy

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var chart = filepath.Join(root, "deploy", "helm", "fairlead")

// installs maps installations to their values and the kinds of objects that result.
var installs = map[string]struct{ values, kinds string }{
	"the least": {
		"{database: {urlSecret: {name: db}}, auth: {tokenSecret: {name: admin}}}",
		"ConfigMap Deployment Job PodDisruptionBudget Service ServiceAccount",
	},
	"two roles and passwords that are rotated": {
		`
database: {url: "postgres://fairlead_app@db/jobs?sslmode=require", passwordSecret: {name: app}}
migrations: {database: {url: "postgres://fairlead_owner@db/jobs", passwordSecret: {name: owner}}}
auth: {tokensInDatabase: true}`,
		"ConfigMap Deployment Job PodDisruptionBudget Service ServiceAccount",
	},
	"all of it with KEDA": {
		`
database: {url: "mysql://app@db/jobs", passwordSecret: {name: app, key: pw}}
auth: {tokenSecret: {name: admin, key: secret}}
tls: {secretName: cert}
wakes: {enabled: true}
config: {lease: 20s, queue: [mail, default], retention: {failed: 30d}, seal-keys: /run/secrets/fairlead/seal/keys}
secretMounts: [{name: seal, secretName: fairlead-seal}]
env: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4318"}]
serviceMonitor: {enabled: true, labels: {release: prometheus}, tokenSecret: {name: viewer}, tlsConfig: {serverName: fairlead, ca: {configMap: {name: authority, key: ca.crt}}}}
autoscaling: {type: keda, keda: {prometheusAddress: "http://prometheus:9090"}}
imagePullSecrets: [{name: pull}]
podLabels: {team: jobs}
podAnnotations: {note: "yes"}
nodeSelector: {disk: fast}
tolerations: [{key: a, operator: Exists}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
affinity: {nodeAffinity: {}}
service: {annotations: {a: b}}
serviceAccount: {annotations: {a: b}}
migrations: {resources: {limits: {memory: 256Mi}}}`,
		"ConfigMap Deployment Job PodDisruptionBudget ScaledObject Service ServiceAccount ServiceMonitor",
	},
	"with a HorizontalPodAutoscaler and little else": {
		`
database: {urlSecret: {name: db}}
config: {oidc-issuer: "https://id.example.org", oidc-audience: fairlead}
migrations: {enabled: false}
serviceAccount: {create: false}
podDisruptionBudget: {enabled: false}
autoscaling: {type: hpa}`,
		"ConfigMap Deployment HorizontalPodAutoscaler Service",
	},
}

// render returns the objects that Helm would send for the given values.
func render(values string) (manifests, error) {
	var given map[string]any
	if err := yaml.UnmarshalStrict([]byte(values), &given); err != nil {
		return nil, err
	}
	loaded, err := loader.LoadDir(chart)
	if err != nil {
		return nil, err
	}
	all, err := util.ToRenderValues(loaded, given, common.ReleaseOptions{Name: "fairlead", Namespace: "jobs", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := (engine.Engine{Strict: true}).RenderWithContext(context.Background(), loaded, all)
	if err != nil {
		return nil, err
	}
	rendered := manifests{}
	for name, text := range files {
		if filepath.Ext(name) == ".yaml" {
			if err := rendered.parse([]byte(text)); err != nil {
				return nil, err
			}
		}
	}
	return rendered, nil
}

func eachInstall(t *testing.T, check func(t *testing.T, rendered manifests)) {
	for name, install := range installs {
		t.Run(name, func(t *testing.T) {
			rendered, err := render(install.values)
			if err != nil {
				t.Fatal(err)
			}
			check(t, rendered)
		})
	}
}

func TestTheHelmChartRendersObjectsThatKubernetesKnows(t *testing.T) {
	for name, install := range installs {
		rendered, err := render(install.values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if kinds := strings.Join(slices.Sorted(maps.Keys(rendered)), " "); kinds != install.kinds {
			t.Errorf("%s: %s, want %s", name, kinds, install.kinds)
		}
	}
}

func TestTheHelmChartPassesLint(t *testing.T) {
	for name, install := range installs {
		var values map[string]any
		if err := yaml.Unmarshal([]byte(install.values), &values); err != nil {
			t.Fatal(err)
		}
		result := lint.RunAll(chart, values, "jobs", lint.WithKubeVersion(&common.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}))
		for _, message := range result.Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, message)
			}
		}
	}
}

func TestTheHelmChartNamesOnlyFlagsThatExist(t *testing.T) {
	eachInstall(t, func(t *testing.T, rendered manifests) {
		node := of[appsv1.Deployment](t, rendered).Spec.Template.Spec.Containers[0]
		checkCommand(t, "Deployment", node.Args, variables(node))
		if job, ok := rendered["Job"].(*batchv1.Job); ok {
			migrate := job.Spec.Template.Spec.Containers[0]
			command := checkCommand(t, "Job", migrate.Args, variables(migrate))
			if !slices.Equal(command, []string{"migrate", "up"}) {
				t.Errorf("the hook runs %q", command)
			}
		}
		var settings map[string]any
		if err := yaml.UnmarshalStrict([]byte(of[corev1.ConfigMap](t, rendered).Data["config.yaml"]), &settings); err != nil {
			t.Fatal(err)
		}
		flags := flagsOf(t, "serve")
		for name := range settings {
			if !flags[name] {
				t.Errorf("config.yaml: fairlead serve has no flag --%s", name)
			}
		}
	})
}

func TestThePortsAndLabelsOfTheHelmChartFitTogether(t *testing.T) {
	eachInstall(t, func(t *testing.T, rendered manifests) {
		deployment := of[appsv1.Deployment](t, rendered)
		pod := deployment.Spec.Template
		node := pod.Spec.Containers[0]
		if !slices.ContainsFunc(node.Args, func(arg string) bool { return strings.HasPrefix(arg, "--addr=") && strings.HasSuffix(arg, ":7717") }) ||
			node.Ports[0].Name != "http" || node.Ports[0].ContainerPort != 7717 {
			t.Errorf("the node serves with %q, its first port is %+v", node.Args, node.Ports[0])
		}
		for probe, path := range map[*corev1.Probe]string{node.StartupProbe: "/livez", node.LivenessProbe: "/livez", node.ReadinessProbe: "/readyz"} {
			if probe.HTTPGet.Port.String() != "http" || probe.HTTPGet.Path != path {
				t.Errorf("a probe asks %+v", probe.HTTPGet)
			}
		}
		service := of[corev1.Service](t, rendered)
		if service.Spec.Ports[0].TargetPort.String() != "http" {
			t.Errorf("the Service sends to %v", service.Spec.Ports[0].TargetPort)
		}
		selectors := []map[string]string{service.Spec.Selector, deployment.Spec.Selector.MatchLabels}
		if budget, ok := rendered["PodDisruptionBudget"].(*policyv1.PodDisruptionBudget); ok {
			selectors = append(selectors, budget.Spec.Selector.MatchLabels)
		}
		for _, selector := range selectors {
			if !within(selector, pod.Labels) {
				t.Errorf("%v selects no pod with %v", selector, pod.Labels)
			}
			if job, ok := rendered["Job"].(*batchv1.Job); ok && within(selector, job.Spec.Template.Labels) {
				t.Errorf("%v selects the pod of the migration too", selector)
			}
		}
		if monitor, ok := rendered["ServiceMonitor"].(*serviceMonitor); ok {
			if !within(monitor.Spec.Selector.MatchLabels, service.Labels) || monitor.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name {
				t.Errorf("%+v does not find the Service", monitor.Spec)
			}
		}
		mounted := map[string]bool{}
		for _, mount := range node.VolumeMounts {
			mounted[mount.Name] = true
		}
		for _, volume := range pod.Spec.Volumes {
			if !mounted[volume.Name] {
				t.Errorf("the volume %s is not mounted", volume.Name)
			}
			delete(mounted, volume.Name)
		}
		if len(mounted) > 0 {
			t.Errorf("%v are mounted, but are no volumes", mounted)
		}
	})
}

func within(some, all map[string]string) bool {
	for key, value := range some {
		if all[key] != value {
			return false
		}
	}
	return len(some) > 0
}

func TestAPodHasTheTimeToDrain(t *testing.T) {
	rendered, err := render(installs["the least"].values + "\n")
	if err != nil {
		t.Fatal(err)
	}
	longer, err := render("{drainTimeoutSeconds: 600, database: {urlSecret: {name: db}}, auth: {tokensInDatabase: true}}")
	if err != nil {
		t.Fatal(err)
	}
	// Default time after the drain: twice the grace period, a lease, a beat and the end of
	// requests.
	const after = 2*5 + 10 + 2 + 5
	for drain, m := range map[int64]manifests{30: rendered, 600: longer} {
		pod := of[appsv1.Deployment](t, m).Spec.Template.Spec
		stop := pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds
		if got := *pod.TerminationGracePeriodSeconds; got < stop+drain+after {
			t.Errorf("the grace period is %d s; preStop, drain and end may take %d s", got, stop+drain+after)
		}
		if config := of[corev1.ConfigMap](t, m).Data["config.yaml"]; !strings.Contains(config, "drain-timeout: "+map[int64]string{30: "30s", 600: "600s"}[drain]) {
			t.Errorf("the drain timeout is not in\n%s", config)
		}
	}
}

func TestTheNumberOfPodsFollowsTheSlotsInUse(t *testing.T) {
	keda, err := render(installs["all of it with KEDA"].values)
	if err != nil {
		t.Fatal(err)
	}
	trigger := of[scaledObject](t, keda).Spec.Triggers[0]
	if trigger.Metadata["threshold"] != "25" { // 80 % of 32 slots
		t.Errorf("a pod is for %s jobs", trigger.Metadata["threshold"])
	}
	checkMetrics(t, "ScaledObject", trigger.Metadata["query"])
	hpa, err := render(installs["with a HorizontalPodAutoscaler and little else"].values)
	if err != nil {
		t.Fatal(err)
	}
	metric := of[autoscalingv2.HorizontalPodAutoscaler](t, hpa).Spec.Metrics[0].External
	if metric.Target.AverageValue.Value() != 25 {
		t.Errorf("a pod is for %v jobs", metric.Target.AverageValue)
	}
	for name, m := range map[string]manifests{"keda": keda, "hpa": hpa} {
		if of[appsv1.Deployment](t, m).Spec.Replicas != nil {
			t.Errorf("%s: an upgrade would undo what the autoscaler has set", name)
		}
	}
}

func TestTheHelmChartRefusesWhatCannotWork(t *testing.T) {
	const good = "auth: {tokensInDatabase: true}\n"
	for values, want := range map[string]string{
		good:                                "database: set url and passwordSecret.name, or urlSecret.name",
		"database: {urlSecret: {name: db}}": "auth: set tokenSecret.name",
		good + "database: {url: 'postgres://a@b/c', urlSecret: {name: db}}":                                              "not both",
		good + "database: {url: 'postgres://a:secret@b/c'}":                                                              "database/url",
		good + "database: {urlSecret: {name: db}}\nconfig: {addr: '127.0.0.1:1'}":                                        "config.addr: the chart has its own value",
		good + "database: {urlSecret: {name: db}}\nautoscaling: {type: keda}":                                            "prometheusAddress",
		good + "database: {urlSecret: {name: db}}\nautoscaling: {type: kdea}":                                            "autoscaling/type",
		good + "database: {urlSecret: {name: db}}\nslot: 3":                                                              "slot",
		good + "database: {urlSecret: {name: db}}\nsecretMounts: [{name: auth, secretName: x}]":                          "secretMounts/0/name",
		good + "database: {urlSecret: {name: db}}\nmigrations: {database: {url: 'mysql://a@b/c', urlSecret: {name: d}}}": "migrations.database",
	} {
		if _, err := render(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not refused because of %q: %v", values, want, err)
		}
	}
}
