package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Options configures an Exporter.
type Options struct {
	URL     *url.URL          // URL to which batches are posted
	Headers map[string]string // headers of each request, such as keys
	Timeout time.Duration     // for one request; 0 = unlimited
	Gzip    bool              // compress requests
	TLS     *tls.Config       // nil for the system's defaults
}

// TracesPath is the path to which spans are sent, relative to a collector's base URL.
const TracesPath = "/v1/traces"

// defaultTimeout is the default defined by OpenTelemetry.
const defaultTimeout = 10 * time.Second

// FromEnvironment reads the environment variables defined by OpenTelemetry:
// OTEL_EXPORTER_OTLP_… ENDPOINT, HEADERS, TIMEOUT, COMPRESSION, CERTIFICATE,
// CLIENT_CERTIFICATE and CLIENT_KEY. Variables with the prefix OTEL_EXPORTER_OTLP_TRACES_…
// take precedence. If no endpoint is set, the URL is nil. Errors contain the variable's
// name, but never a header or a password.
func FromEnvironment(getenv func(string) string) (Options, error) {
	env := environment(getenv)
	options := Options{Timeout: defaultTimeout}
	for _, read := range []func(environment, *Options) error{readURL, readHeaders, readTimeout, readCompression, readTLS} {
		if err := read(env, &options); err != nil {
			return Options{}, err
		}
	}
	return options, nil
}

type environment func(string) string

const (
	general  = "OTEL_EXPORTER_OTLP_"
	specific = "OTEL_EXPORTER_OTLP_TRACES_"
)

// lookup returns the value of a variable and the name under which it was set. An empty
// variable counts as unset.
func (get environment) lookup(name string) (variable, value string) {
	if value := strings.TrimSpace(get(specific + name)); value != "" {
		return specific + name, value
	}
	return general + name, strings.TrimSpace(get(general + name))
}

func readURL(env environment, options *Options) error {
	variable, value := env.lookup("ENDPOINT")
	if value == "" {
		return nil
	}
	target, err := ParseURL(value)
	if err != nil {
		return fmt.Errorf("%s %w", variable, err)
	}
	if variable == general+"ENDPOINT" { // a base URL; the endpoint for traces is complete
		target = target.JoinPath(TracesPath)
	} else if target.Path == "" {
		target.Path = "/"
	}
	options.URL = target
	return nil
}

// ParseURL parses a collector's URL.
func ParseURL(text string) (*url.URL, error) {
	target, err := url.Parse(text)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return nil, fmt.Errorf("must be an absolute http or https URL such as http://localhost:4318")
	}
	if target.User != nil {
		return nil, fmt.Errorf("must not contain a password; set OTEL_EXPORTER_OTLP_HEADERS instead")
	}
	return target, nil
}

// readHeaders parses pairs such as key=value,other=value. Values may be percent-encoded.
func readHeaders(env environment, options *Options) error {
	options.Headers = map[string]string{}
	for _, name := range []string{general + "HEADERS", specific + "HEADERS"} { // the latter adds to the former
		for i, pair := range strings.Split(env(name), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, escaped, found := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(escaped))
			if key = strings.TrimSpace(key); !found || key == "" || err != nil || strings.ContainsFunc(key+value, control) {
				return fmt.Errorf("%s: entry %d is not in the form key=value", name, i+1)
			}
			options.Headers[key] = value
		}
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

func readTimeout(env environment, options *Options) error {
	variable, value := env.lookup("TIMEOUT")
	if value == "" {
		return nil
	}
	milliseconds, err := strconv.ParseInt(value, 10, 32)
	if err != nil || milliseconds < 0 {
		return fmt.Errorf("%s must be a number of milliseconds", variable)
	}
	options.Timeout = time.Duration(milliseconds) * time.Millisecond
	return nil
}

func readCompression(env environment, options *Options) error {
	switch variable, value := env.lookup("COMPRESSION"); value {
	case "", "none":
	case "gzip":
		options.Gzip = true
	default:
		return fmt.Errorf("%s must be gzip or none", variable)
	}
	return nil
}

// readTLS loads the CA certificate of the collector and the client certificate from files.
func readTLS(env environment, options *Options) error {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if variable, file := env.lookup("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: the file contains no certificate", variable)
		}
		options.TLS = config
	}
	variable, certificate := env.lookup("CLIENT_CERTIFICATE")
	keyVariable, key := env.lookup("CLIENT_KEY")
	switch {
	case certificate == "" && key == "":
		return nil
	case certificate == "" || key == "":
		return fmt.Errorf("%s and %s must be set together", variable, keyVariable)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	config.Certificates = []tls.Certificate{pair}
	options.TLS = config
	return nil
}
