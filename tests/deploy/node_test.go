package deploy

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// A node runs with the arguments, the variables and the files that a pod would have.
func TestANodeStartsWithWhatTheHelmChartPasses(t *testing.T) {
	rendered, err := render("{database: {urlSecret: {name: db}}, auth: {tokenSecret: {name: admin}}, config: {retention: {failed: 30d}, queue: [mail, default]}}")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	token := strings.Repeat("secret", 6)
	files := map[string]string{
		"/etc/fairlead/config.yaml":          of[corev1.ConfigMap](t, rendered).Data["config.yaml"],
		"/run/secrets/fairlead/database/url": "sqlite://" + filepath.Join(dir, "jobs.db"),
		"/run/secrets/fairlead/auth/token":   token,
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), text)
	}
	here := strings.NewReplacer("/etc/fairlead", dir+"/etc/fairlead", "/run/secrets", dir+"/run/secrets")
	container := of[appsv1.Deployment](t, rendered).Spec.Template.Spec.Containers[0]
	values := variables(container)
	for name, value := range values {
		values[name] = here.Replace(value)
	}
	args := replaceAddr(container.Args)
	for i, arg := range args {
		args[i] = here.Replace(arg)
	}
	node := start(t, args, values)
	node.serves(t) // and logs it as JSON, as config.yaml says
	node.becomesReady(t)
	for path, want := range map[string]int{
		container.LivenessProbe.HTTPGet.Path:  http.StatusOK,
		container.ReadinessProbe.HTTPGet.Path: http.StatusOK,
		"/metrics":                            http.StatusUnauthorized,
	} {
		if status, body := answers(t, node.url+path, ""); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := answers(t, node.url+"/metrics", token); status != http.StatusOK || !strings.Contains(body, "fairlead_slots 32") {
		t.Errorf("%d %s", status, body)
	}
	node.stops(t)
	if !strings.Contains(node.log.String(), `"msg":"left"`) {
		t.Errorf("the node has not given up its lease:\n%s", node.log.String())
	}
}
