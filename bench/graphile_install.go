package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// usesGraphile reports whether an entry needs graphile-worker.
func usesGraphile(e entry) bool {
	return e.system == systemGraphile || e.system == systemGraphileDefaults
}

// installGraphile downloads graphile-worker unless it is installed. It fails if the machine
// has no Node.js.
func installGraphile(ctx context.Context) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	if graphileInstalled() {
		return nil
	}
	fmt.Fprintln(os.Stderr, "installing graphile-worker with npm")
	// No lock is written: it would name the registry of the machine that wrote it.
	install := exec.CommandContext(ctx, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir, install.Stdout, install.Stderr = graphileDir, os.Stderr, os.Stderr
	if err := install.Run(); err != nil {
		return fmt.Errorf("npm install (this program is to be run in its own directory): %w", err)
	}
	return nil
}

// graphileInstalled reports whether the version required by package.json is installed.
func graphileInstalled() bool {
	var wanted struct{ Dependencies map[string]string }
	if readJSON(graphileDir+"/package.json", &wanted) != nil {
		return false
	}
	for name, version := range wanted.Dependencies {
		var found struct{ Version string }
		if readJSON(graphileDir+"/node_modules/"+name+"/package.json", &found) != nil || found.Version != version {
			return false
		}
	}
	return true
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
