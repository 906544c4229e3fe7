package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// scaledObject is the part of keda.sh/v1alpha1 in use. Importing its module would add the
// clients of all clouds. The names are those of KEDA 2.21.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		PollingInterval int32 `json:"pollingInterval"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		Fallback        struct {
			FailureThreshold int32  `json:"failureThreshold"`
			Replicas         int32  `json:"replicas"`
			Behavior         string `json:"behavior"`
		} `json:"fallback"`
		Advanced struct {
			HorizontalPodAutoscalerConfig struct {
				Behavior autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"`
		Triggers []struct {
			Type       string            `json:"type"`
			MetricType string            `json:"metricType"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

// serviceMonitor is the part of monitoring.coreos.com/v1 in use. The names are those of
// version 0.94 of the Prometheus Operator.
type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port      string `json:"port"`
			Path      string `json:"path"`
			Interval  string `json:"interval"`
			Scheme    string `json:"scheme"`
			TLSConfig struct {
				ServerName string `json:"serverName"`
				CA         struct {
					ConfigMap corev1.ConfigMapKeySelector `json:"configMap"`
				} `json:"ca"`
			} `json:"tlsConfig"`
			Authorization struct {
				Type        string                   `json:"type"`
				Credentials corev1.SecretKeySelector `json:"credentials"`
			} `json:"authorization"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// object returns an empty object of a kind, or nil for a kind that is not in use.
func object(kind string) any {
	switch kind {
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "v1 Secret":
		return &corev1.Secret{}
	case "v1 Service":
		return &corev1.Service{}
	case "v1 ServiceAccount":
		return &corev1.ServiceAccount{}
	case "apps/v1 Deployment":
		return &appsv1.Deployment{}
	case "batch/v1 Job":
		return &batchv1.Job{}
	case "policy/v1 PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return &autoscalingv2.HorizontalPodAutoscaler{}
	case "keda.sh/v1alpha1 ScaledObject":
		return &scaledObject{}
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return &serviceMonitor{}
	}
	return nil
}

// manifests contains objects by kind, such as Deployment.
type manifests map[string]any

var between = regexp.MustCompile(`(?m)^---\s*$`)

// parse adds the objects in a text. It returns an error for an unknown kind or field, a
// duplicate field, and a second object of the same kind.
func (m manifests) parse(text []byte) error {
	for _, document := range between.Split(string(text), -1) {
		var head metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			return fmt.Errorf("%w in\n%s", err, document)
		}
		if head.Kind == "" && strings.TrimSpace(stripComments(document)) == "" {
			continue
		}
		into := object(head.APIVersion + " " + head.Kind)
		if into == nil {
			return fmt.Errorf("unknown kind %s %s in\n%s", head.APIVersion, head.Kind, document)
		}
		if err := decode([]byte(document), into); err != nil {
			return fmt.Errorf("%w in\n%s", err, document)
		}
		if m[head.Kind] != nil {
			return fmt.Errorf("there is a second %s", head.Kind)
		}
		m[head.Kind] = into
	}
	return nil
}

// decode rejects the same documents as the API server with fieldValidation=Strict: field
// names are case-sensitive.
func decode(document []byte, into any) error {
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(raw, into)
	return errors.Join(append(unknown, err)...)
}

func stripComments(text string) string {
	return regexp.MustCompile(`(?m)^\s*#.*$`).ReplaceAllString(text, "")
}

// of returns the object of a kind.
func of[T any](t *testing.T, m manifests) *T {
	t.Helper()
	for _, candidate := range m {
		if found, ok := candidate.(*T); ok {
			return found
		}
	}
	t.Fatalf("there is no %T", *new(T))
	return nil
}

// variables returns the environment variables of a container by name.
func variables(container corev1.Container) map[string]string {
	values := map[string]string{}
	for _, variable := range container.Env {
		values[variable.Name] = variable.Value
	}
	return values
}

func TestAFieldThatKubernetesDoesNotKnowIsNoticed(t *testing.T) {
	good := []byte("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}\n")
	if err := (manifests{}).parse(good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"prots", "Ports"} {
		if err := (manifests{}).parse(bytes.ReplaceAll(good, []byte("ports"), []byte(bad))); err == nil {
			t.Errorf("%s is taken for a field", bad)
		}
	}
}
