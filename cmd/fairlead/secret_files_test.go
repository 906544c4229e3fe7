package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
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
