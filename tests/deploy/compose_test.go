package deploy

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

func composeProject(t *testing.T) *types.Project {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(root, "deploy", "compose"))
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "compose.yaml")}},
	}, func(o *loader.Options) { o.SetProjectName("fairlead", true) })
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func environment(service types.ServiceConfig) map[string]string {
	values := map[string]string{}
	for name, value := range service.Environment {
		values[name] = *value
	}
	return values
}

func TestTheComposeFileNamesOnlyFlagsThatExist(t *testing.T) {
	project := composeProject(t)
	for _, name := range []string{"migrate", "node-1", "node-2"} {
		service := project.Services[name]
		checkCommand(t, name, service.Command, environment(service))
		if _, err := os.Stat(filepath.Join(service.Build.Context, service.Build.Dockerfile)); err != nil {
			t.Error(err)
		}
		if check := service.HealthCheck; check != nil {
			if check.Test[1] != "/fairlead" {
				t.Errorf("%s is checked by %q", name, check.Test)
			}
			checkCommand(t, name, check.Test[2:], nil)
		}
		for _, file := range mentioned(service) {
			if !slices.ContainsFunc(service.Secrets, func(s types.ServiceSecretConfig) bool { return file == "/run/secrets/"+s.Source }) {
				t.Errorf("%s reads %s, which it is not given", name, file)
			}
		}
	}
	for _, name := range []string{"node-1", "node-2"} {
		node := project.Services[name]
		if node.DependsOn["migrate"].Condition != types.ServiceConditionCompletedSuccessfully {
			t.Errorf("%s does not wait for the migration", name)
		}
		if node.Ports[0].Target != 7717 || !slices.Contains(node.Command, "--addr=0.0.0.0:7717") {
			t.Errorf("%s serves by %q, and %d is published", name, node.Command, node.Ports[0].Target)
		}
		if stop := time.Duration(*node.StopGracePeriod); stop < 57*time.Second {
			t.Errorf("%s has %v to end; it may need 57 s", name, stop)
		}
	}
}

// mentioned returns the secrets named in a service's environment.
func mentioned(service types.ServiceConfig) (files []string) {
	for _, value := range environment(service) {
		if _, name, found := strings.Cut(value, "/run/secrets/"); found {
			files = append(files, "/run/secrets/"+name)
		}
	}
	return files
}

// The containers cannot run here, but their contents can: psql runs roles.sql, the owner
// runs the migration, and the other role runs a node, each with the command and the
// environment in the file.
func TestWhatTheComposeFileRunsWorksOnPostgreSQL(t *testing.T) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("there is no psql")
	}
	server, err := testdb.StartPostgres(t.Context(), testdb.Options{})
	if err != nil {
		if testdb.Required() {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	secrets := t.TempDir()
	for _, name := range []string{"owner", "app", "token"} {
		write(t, filepath.Join(secrets, name), strings.Repeat(name, 10)+"\n")
	}
	here := func(text string) string { return strings.ReplaceAll(text, "/run/secrets", secrets) }
	asAdmin := func(input string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), psql, append(args, "--no-psqlrc", "--set=ON_ERROR_STOP=1")...)
		cmd.Stdin = strings.NewReader(input)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("psql %q: %v\n%s", args, err, out)
		}
	}
	askForPasswords(t, server)
	asAdmin("select pg_reload_conf(); create database jobs", server.URL())
	database := withDatabase(t, server.URL(), "jobs")
	asAdmin(here(string(read(t, "deploy", "compose", "roles.sql"))), database)

	project := composeProject(t)
	address := hostOf(t, server.URL())
	guess := exec.CommandContext(t.Context(), psql, "postgres://fairlead_app:guessed@"+address+"/jobs", "--command=select 1")
	if out, err := guess.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("password")) {
		t.Errorf("a wrong password is not refused: %v\n%s", err, out)
	}
	run := func(service string) *running {
		t.Helper()
		config := project.Services[service]
		values := environment(config)
		for name, value := range values {
			values[name] = here(strings.ReplaceAll(value, "@postgres/", "@"+address+"/"))
		}
		return start(t, replaceAddr(config.Command), values)
	}
	if out := run("migrate").ends(t); !bytes.Contains(out, []byte("up to date")) {
		t.Errorf("the migration says\n%s", out)
	}
	node := run("node-1")
	node.serves(t)
	node.becomesReady(t)
	node.stops(t)
}

// askForPasswords makes a server require passwords for both roles as soon as it rereads its
// files. Private servers require none.
func askForPasswords(t *testing.T, server *testdb.Server) {
	t.Helper()
	file := filepath.Join(server.Dir(), "data", "pg_hba.conf")
	rules, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rules = append([]byte("host all fairlead_owner,fairlead_app all scram-sha-256\n"), rules...)
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestANodeMayNotBeWhoOwnsTheTables(t *testing.T) {
	project := composeProject(t)
	owner, app := project.Services["migrate"], project.Services["node-1"]
	if strings.Contains(environment(app)["FAIRLEAD_DB"], "owner") || slices.ContainsFunc(app.Secrets, func(s types.ServiceSecretConfig) bool { return s.Source == "owner" }) {
		t.Error("a node knows the owner's password")
	}
	if !strings.Contains(environment(owner)["FAIRLEAD_DB"], "fairlead_owner@") {
		t.Error("the migration is not run by the owner")
	}
}

// answers calls a node and returns the status and the body of the response.
func answers(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
