package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

func TestFilesWithSecretsThatAllUsersCanReadAreWarnedAboutAtTheStart(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, key, _ := selfSigned(t)
	token, client := write("token", strings.Repeat("t", 40)), write("client", "s3cret")
	sealing := write("seal.keys", "a "+strings.Repeat("A", 43)+"=\n")
	for flag, c := range map[string]struct {
		file string
		read func(*slog.Logger) error
	}{
		"--tls-key": {key, func(log *slog.Logger) error {
			_, err := (&authOptions{tlsCert: cert, tlsKey: key}).tls(log)
			return err
		}},
		"--token-file": {token, func(log *slog.Logger) error {
			_, err := (&authOptions{tokenFile: token}).find(t.Context(), store, log)
			return err
		}},
		"--seal-keys": {sealing, func(log *slog.Logger) error { _, _, err := sealWith(sealing, store, store, log); return err }},
		"--oidc-client-secret-file": {client, func(log *slog.Logger) error {
			o := &authOptions{clientSecret: client}
			o.oidc.Issuer = "http://127.0.0.1:1"
			_, _ = o.find(t.Context(), store, log) // the provider does not answer
			return nil
		}},
	} {
		for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o602: true} {
			if err := os.Chmod(c.file, mode); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := c.read(slog.New(slog.NewTextHandler(&out, nil))); err != nil {
				t.Fatalf("%s: %v", flag, err)
			}
			text := out.String()
			if got := strings.Contains(text, "level=WARN") && strings.Contains(text, flag) && strings.Contains(text, c.file) && strings.Contains(text, "chmod 600"); got != warned {
				t.Errorf("%s of mode %v: warned is %v, want %v: %s", flag, mode, got, warned, text)
			}
			if strings.Contains(text, "s3cret") || strings.Contains(text, "tttt") {
				t.Errorf("%s: the secret is in the log: %s", flag, text)
			}
		}
	}
}

func TestSecretFilesAreFoundInSettings(t *testing.T) {
	for setting, want := range map[string][]string{
		"":              nil,
		"env:TOKEN":     nil,
		"file:/run/a":   {"/run/a"},
		"sqlite://x.db": nil,
		"postgres://u@db/jobs?password_file=/run/a":                   {"/run/a"},
		"crm=postgres://u:${file:/run/b}@db/crm?password_file=/run/a": {"/run/b", "/run/a"},
		"crm=${file:/run/url}":                                        {"/run/url"},
		"crm=${env:URL}":                                              nil,
	} {
		if got := secretFiles(setting); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", setting, got, want)
		}
	}
}

func TestAConfigurationWithAPasswordThatAllUsersCanReadIsWarnedAbout(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	for text, secret := range map[string]bool{
		"db: postgres://u:s3cret@db.example.org/jobs":                                true,
		"db: mysql://u@db.example.org/jobs?password=s3cret":                          true,
		"sweep-database:\n  crm: postgres://u:s3cret@db.example.org/crm":             true,
		"sweep-database:\n- crm=postgres://u:${env:PASSWORD}@db.example.org/crm":     false,
		"db: postgres://u@db.example.org/jobs?password_file=/run/secrets/db":         false,
		"db: sqlite://jobs.db\nslots: 3":                                             false,
		"public-url: https://jobs.example.org\nkind-retention:\n  noop: failed=240h": false,
	} {
		for mode, open := range map[os.FileMode]bool{0o600: false, 0o644: true} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := warnIfConfigOpen(&out, file); err != nil {
				t.Fatal(err)
			}
			warned := strings.Contains(out.String(), "chmod 600") && strings.Contains(out.String(), file)
			if warned != (secret && open) || strings.Contains(out.String(), "s3cret") {
				t.Errorf("%q of mode %v: %q", text, mode, out.String())
			}
		}
	}
}

func TestAPasswordFileThatAllUsersCanReadIsWarnedAbout(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("password", []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o644: true} {
		if err := os.Chmod("password", mode); err != nil {
			t.Fatal(err)
		}
		_, errs := typed(t, exitUsage, "migrate", "up", "--db", "nosuch://u@db/jobs?password_file=password")
		if got := strings.Contains(errs, "chmod 600"); got != warned {
			t.Errorf("mode %v: %s", mode, errs)
		}
	}
}

func TestAProviderWithoutTLSIsWarnedAboutUnlessItIsOnThisMachine(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	ended, end := context.WithCancel(t.Context())
	end() // no provider is called
	for issuer, warned := range map[string]bool{
		"http://login.example.org": true, "HTTP://10.0.0.7:8080/realm": true, "https://login.example.org": false,
		"http://localhost:8080": false, "http://127.0.0.1:8080": false, "http://[::1]:8080": false,
	} {
		var out bytes.Buffer
		o := &authOptions{}
		o.oidc.Issuer = issuer
		_, _ = o.find(ended, store, slog.New(slog.NewTextHandler(&out, nil)))
		if got := strings.Contains(out.String(), "level=WARN") && strings.Contains(out.String(), "TLS"); got != warned {
			t.Errorf("%s: %s", issuer, out.String())
		}
	}
}
