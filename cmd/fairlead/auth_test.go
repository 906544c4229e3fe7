package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// ask sends a request with a token, or without, and tells the status.
func ask(t *testing.T, client *http.Client, url, secret string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		request.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestATokenInAFileTurnsAuthenticationOn(t *testing.T) {
	file, secret := filepath.Join(t.TempDir(), "token"), strings.Repeat("s3cret", 8)
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := startServe(t, "--db", "sqlite://:memory:", "--token-file", file)
	for secret, want := range map[string]int{"": 401, "wrong": 401, secret: 200} {
		if got := ask(t, http.DefaultClient, node.url+"/api/v1/jobs", secret); got != want {
			t.Errorf("with %q: %d, want %d", secret, got, want)
		}
	}
	if got := node.status(t, "/livez"); got != 200 {
		t.Errorf("its health needs a token: %d", got)
	}
}

func TestATokenInTheDatabaseTurnsAuthenticationOn(t *testing.T) {
	db := sqlitetest.URL(t)
	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	secret, hash, err := server.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.AddToken(t.Context(), access.Token{Name: "me", Role: access.RoleViewer, Hash: hash}); err != nil {
		t.Fatal(err)
	}
	node := startServe(t, "--db", db)
	for secret, want := range map[string]int{"": 401, secret: 200} {
		if got := ask(t, http.DefaultClient, node.url+"/api/v1/jobs", secret); got != want {
			t.Errorf("with %q: %d, want %d", secret, got, want)
		}
	}
}

func TestServeSpeaksTLS(t *testing.T) {
	cert, key, pool := selfSigned(t)
	node := startServe(t, "--db", "sqlite://:memory:", "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(node.url, "https://") {
		t.Fatalf("it serves %s", node.url)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	if got := ask(t, client, node.url+"/api/v1/jobs", ""); got != 200 {
		t.Errorf("it answers %d", got)
	}
}

// selfSigned makes a certificate for this machine.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	rawKey, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", raw), write("key.pem", "PRIVATE KEY", rawKey), pool
}
