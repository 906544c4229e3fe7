package otlp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func from(variables map[string]string) (Options, error) {
	return FromEnvironment(func(name string) string {
		short, _ := strings.CutPrefix(name, "OTEL_EXPORTER_OTLP_")
		return variables[short]
	})
}

func TestTheEnvironmentSaysWhereSpansGo(t *testing.T) {
	for want, variables := range map[string]map[string]string{
		"http://a:4318/v1/traces":      {"ENDPOINT": "http://a:4318"},
		"https://a/base/v1/traces":     {"ENDPOINT": "https://a/base/"},
		"http://b/":                    {"TRACES_ENDPOINT": "http://b", "ENDPOINT": "http://a"},
		"http://b/other":               {"TRACES_ENDPOINT": "http://b/other"},
		"http://b/v1/traces?tenant=me": {"TRACES_ENDPOINT": "http://b/v1/traces?tenant=me"},
	} {
		if options, err := from(variables); err != nil || options.URL.String() != want {
			t.Errorf("%v is %v (%v), not %s", variables, options.URL, err, want)
		}
	}
	options, err := from(nil)
	if err != nil || options.URL != nil || options.Timeout != 10*time.Second || options.Gzip || options.TLS != nil {
		t.Errorf("without variables the options are %+v (%v)", options, err)
	}
}

func TestTheEnvironmentSaysHowSpansAreSent(t *testing.T) {
	options, err := from(map[string]string{"HEADERS": "x-key = a%20b , other=1=2,", "TRACES_HEADERS": "other=3", "TIMEOUT": "2500", "COMPRESSION": "gzip"})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(options.Headers, map[string]string{"x-key": "a b", "other": "3"}) || options.Timeout != 2500*time.Millisecond || !options.Gzip {
		t.Errorf("the options are %+v", options)
	}
	options, err = from(map[string]string{"TIMEOUT": "2500", "TRACES_TIMEOUT": "1", "COMPRESSION": "gzip", "TRACES_COMPRESSION": "none"})
	if err != nil || options.Timeout != time.Millisecond || options.Gzip {
		t.Errorf("those of traces do not go before: %+v (%v)", options, err)
	}
}

func TestWhatTheEnvironmentMayNotSay(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "hunter2")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		variables map[string]string
		want      string
	}{
		"no scheme":        {map[string]string{"ENDPOINT": "localhost:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT must be an absolute"},
		"another scheme":   {map[string]string{"TRACES_ENDPOINT": "unix:///tmp/hunter2"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be an absolute"},
		"a password":       {map[string]string{"ENDPOINT": "http://ada:hunter2@a"}, "must not contain a password"},
		"no value":         {map[string]string{"HEADERS": "a=b,hunter2"}, "OTEL_EXPORTER_OTLP_HEADERS: entry 2 is not in the form key=value"},
		"no name":          {map[string]string{"TRACES_HEADERS": "=hunter2"}, "OTEL_EXPORTER_OTLP_TRACES_HEADERS: entry 1"},
		"a wrong escape":   {map[string]string{"HEADERS": "a=hunter2%zz"}, "HEADERS: entry 1"},
		"a line":           {map[string]string{"HEADERS": "a=hunter2%0a"}, "HEADERS: entry 1"},
		"no number":        {map[string]string{"TIMEOUT": "10s"}, "OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds"},
		"a negative time":  {map[string]string{"TIMEOUT": "-1"}, "must be a number of milliseconds"},
		"another packing":  {map[string]string{"COMPRESSION": "zstd"}, "OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none"},
		"no file":          {map[string]string{"CERTIFICATE": filepath.Join(t.TempDir(), "none.pem")}, "OTEL_EXPORTER_OTLP_CERTIFICATE"},
		"no certificate":   {map[string]string{"CERTIFICATE": empty}, "the file contains no certificate"},
		"no key":           {map[string]string{"CLIENT_CERTIFICATE": empty}, "CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY must be set together"},
		"a key in no form": {map[string]string{"CLIENT_CERTIFICATE": empty, "CLIENT_KEY": empty}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := from(test.variables)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// written stores a certificate and its key for 127.0.0.1.
func written(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "own.pem"), filepath.Join(t.TempDir(), "key.pem")
	for file, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: raw}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func TestCollectorsAreTrustedAndTrustByCertificates(t *testing.T) {
	var shown int
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { shown = len(r.TLS.PeerCertificates) }))
	web.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert} //nolint:gosec // a test's
	web.StartTLS()
	defer web.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	certificate, key := written(t)
	options, err := from(map[string]string{"ENDPOINT": web.URL, "CERTIFICATE": authority, "CLIENT_CERTIFICATE": certificate, "CLIENT_KEY": key})
	if err != nil {
		t.Fatal(err)
	}
	if err := New(options).ExportSpans(t.Context(), batch); err != nil || shown != 1 {
		t.Errorf("it saw %d certificates (%v)", shown, err)
	}
}
