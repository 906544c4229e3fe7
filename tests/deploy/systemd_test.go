package deploy

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fairlead-io/fairlead/internal/testprogram"
)

func TestTheUnitNamesOnlyFlagsThatExist(t *testing.T) {
	unit := string(read(t, "deploy", "systemd", "fairlead.service"))
	command := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/fairlead (.*)$`).FindStringSubmatch(unit)
	if command == nil {
		t.Fatal("the unit does not run the program")
	}
	values := map[string]string{}
	for _, text := range []string{unit, string(read(t, "deploy", "systemd", "fairlead.env"))} {
		for _, match := range regexp.MustCompile(`(FAIRLEAD_[A-Z_]+)=(\S*)`).FindAllStringSubmatch(text, -1) {
			values[match[1]] = match[2]
		}
	}
	checkCommand(t, "fairlead.service", strings.Fields(command[1]), values)
	for name, value := range values {
		if credential, ok := strings.CutPrefix(value, "%d/"); ok && !strings.Contains(unit, "\nLoadCredential="+credential+":") {
			t.Errorf("%s is a credential that is not loaded", name)
		}
	}
	var settings map[string]any
	if err := yaml.UnmarshalStrict(read(t, "deploy", "systemd", "fairlead.yaml"), &settings); err != nil {
		t.Fatal(err)
	}
	flags := flagsOf(t, "serve")
	for name := range maps.Keys(settings) {
		if !flags[name] {
			t.Errorf("fairlead.yaml: fairlead serve has no flag --%s", name)
		}
	}
}

func TestANodeStartsWithTheSettingsOfTheUnit(t *testing.T) {
	dir := t.TempDir()
	settings := regexp.MustCompile(`(?m)^addr: .*$`).ReplaceAllString(string(read(t, "deploy", "systemd", "fairlead.yaml")), "addr: 127.0.0.1:0")
	write(t, filepath.Join(dir, "fairlead.yaml"), settings)
	write(t, filepath.Join(dir, "database"), "sqlite://"+filepath.Join(dir, "jobs.db"))
	write(t, filepath.Join(dir, "token"), strings.Repeat("secret", 6))
	node := start(t, []string{"serve", "--config", filepath.Join(dir, "fairlead.yaml")}, map[string]string{
		"FAIRLEAD_DB_FILE": filepath.Join(dir, "database"), "FAIRLEAD_TOKEN_FILE": filepath.Join(dir, "token"), "FAIRLEAD_LOG_LEVEL": "info",
	})
	node.serves(t)
	node.becomesReady(t)
	node.stops(t)
}

// leastExposed is the exposure level of the unit according to systemd-analyze; 10 is the
// worst.
const leastExposed = "1.4"

func TestTheUnitIsValidAndExposesLittle(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	path := testprogram.Path(t)
	unit := filepath.Join(t.TempDir(), "fairlead.service")
	write(t, unit, strings.ReplaceAll(string(read(t, "deploy", "systemd", "fairlead.service")), "/usr/local/bin/fairlead", path))
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", unit).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	if !strings.Contains(string(read(t, "docs", "operations.md")), "`systemd-analyze security` "+leastExposed) {
		t.Errorf("docs/operations.md does not say %s", leastExposed)
	}
}
