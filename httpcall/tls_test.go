package httpcall_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/httpcall"
)

// clientCertificate makes a certificate that signs itself.
func clientCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fairlead"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pemText("CERTIFICATE", signed), pemText("PRIVATE KEY", encoded)
}

func pemText(kind string, raw []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
}

func TestTargetAndCallerAreRecognisedByCertificates(t *testing.T) {
	certificate, key := clientCertificate(t)
	callers := x509.NewCertPool()
	callers.AppendCertsFromPEM([]byte(certificate))
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if name := r.TLS.PeerCertificates[0].Subject.CommonName; name != "fairlead" {
			t.Errorf("called by %s", name)
		}
	}))
	target.Config.ErrorLog = log.New(io.Discard, "", 0)
	target.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: callers}
	target.StartTLS()
	defer target.Close()
	ca := pemText("CERTIFICATE", target.Certificate().Raw)

	dir := t.TempDir()
	var names []string
	for name, text := range map[string]string{"ca": ca, "cert": certificate, "key": key, "junk": "junk"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, "file:"+filepath.Join(dir, name))
	}
	listed, err := httpcall.NewSecrets(names)
	if err != nil {
		t.Fatal(err)
	}
	refer := func(name string) string { return "${file:" + filepath.Join(dir, name) + "}" }
	for _, c := range []struct {
		name string
		tls  *httpcall.TLS
		want string
	}{
		{"unknown authority", nil, "connect: "},
		{"no client certificate", &httpcall.TLS{CA: ca}, "connect: "},
		{"all", &httpcall.TLS{CA: ca, ClientCertificate: refer("cert"), ClientKey: refer("key")}, ""},
		{"by reference", &httpcall.TLS{CA: refer("ca"), ClientCertificate: refer("cert"), ClientKey: refer("key")}, ""},
		{"no pair", &httpcall.TLS{CA: ca, ClientCertificate: refer("cert"), ClientKey: refer("junk")}, "client_certificate and client_key do not match"},
		{"no authority", &httpcall.TLS{CA: refer("junk")}, "args.tls.ca"},
		{"not listed", &httpcall.TLS{CA: "${file:/etc/passwd}"}, "--allow-secret"},
	} {
		_, err := workWith(t, httpcall.Options{Guard: local(t), Secrets: listed}, httpcall.Call{URL: target.URL, TLS: c.tls})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
