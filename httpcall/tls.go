package httpcall

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
)

// maxCallers is how many callers with certificates of their own are kept.
const maxCallers = 64

// callers keep a caller for each set of certificates, so that its connections
// can be used again.
type callers struct {
	guard *Guard
	plain *Caller

	mu      sync.Mutex
	special map[[32]byte]*Caller
	order   [][32]byte // oldest first
}

func newCallers(guard *Guard) *callers {
	return &callers{guard: guard, plain: NewCaller(guard), special: map[[32]byte]*Caller{}}
}

// with returns the caller for a plan's certificates.
func (c *callers) with(options *TLS, read func(name string) (string, error)) (*Caller, error) {
	if options == nil || *options == (TLS{}) {
		return c.plain, nil
	}
	texts := make([]string, 3)
	for i, text := range []string{options.CA, options.ClientCertificate, options.ClientKey} {
		texts[i] = text
		if name, refers := soleReference(text); refers {
			var err error
			if texts[i], err = read(name); err != nil {
				return nil, fmt.Errorf("args.tls: %w", err)
			}
		}
	}
	hash := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(hash, "%d %s", len(text), text)
	}
	key := [32]byte(hash.Sum(nil))
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept := c.special[key]; kept != nil {
		return kept, nil
	}
	config, err := tlsConfig(texts[0], texts[1], texts[2])
	if err != nil {
		return nil, err
	}
	made := newCaller(c.guard, config)
	c.special[key], c.order = made, append(c.order, key)
	if len(c.order) > maxCallers {
		c.special[c.order[0]].client.CloseIdleConnections()
		delete(c.special, c.order[0])
		c.order = c.order[1:]
	}
	return made, nil
}

// tlsConfig is made of PEM. Nothing of it gets into errors.
func tlsConfig(ca, certificate, key string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		if config.RootCAs = poolOf(ca); config.RootCAs == nil {
			return nil, errors.New("args.tls.ca: the referenced value contains no certificate; it must be in PEM format")
		}
	}
	if certificate != "" {
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			return nil, errors.New("args.tls: client_certificate and client_key do not match; use a PEM certificate and its private key")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// poolOf is nil if there is no certificate in a text.
func poolOf(pem string) *x509.CertPool {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil
	}
	return pool
}
