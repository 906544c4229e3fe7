package httpcall

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// prepared is a request that can be made, and how it is shown.
type prepared struct {
	request *http.Request
	shown   Message
	hide    *masker
}

// prepare fills in a plan for a run of its job.
func (p *plan) prepare(ctx context.Context, job *fairlead.Job, key string, origin Origin, callback ticket, secrets *Secrets) (*prepared, error) {
	made, vals, err := p.fillIn(ctx, job, key, origin, callback, secrets)
	if err != nil {
		return nil, err
	}
	return made, made.show(p, vals)
}

// fillIn is prepare for a call of which nothing is shown.
func (p *plan) fillIn(ctx context.Context, job *fairlead.Job, key string, origin Origin, callback ticket, secrets *Secrets) (*prepared, *values, error) {
	hidden := []string{callback.token}
	known := map[string]string{} // a call reads each secret once, however often it refers to it
	read := func(name string) (string, error) {
		if value, ok := known[name]; ok {
			return value, nil
		}
		value, err := secrets.read(name)
		if err == nil {
			known[name] = value
			hidden = append(hidden, value)
		}
		return value, err
	}
	vals := valuesOf(job, origin, callback.url, callback.token, p.vars, read)
	target, err := p.url.render(vals)
	if err != nil {
		return nil, nil, fmt.Errorf("args.url: %w", err)
	}
	if password, ok := target.User.Password(); ok {
		hidden = append(hidden, password, base64.StdEncoding.EncodeToString([]byte(target.User.Username()+":"+password)))
	}
	body, err := p.renderBody(vals)
	if err != nil {
		return nil, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, p.method, "/", strings.NewReader(body)) // of the URL it is known that it can be read
	if err != nil {
		return nil, nil, errors.New("args: cannot build an HTTP request; check the method")
	}
	request.URL, request.Host = target, strings.TrimSuffix(target.Host, ":")
	if p.body != nil {
		request.Header.Set("Content-Type", p.contentType)
	}
	request.Header.Set("User-Agent", "Fairlead")
	for _, h := range p.headers {
		value, err := h.value.render(headerDialect{}, vals, maxHeader)
		if err != nil {
			return nil, nil, fmt.Errorf("args.headers.%s: %w", h.name, err)
		}
		request.Header.Set(h.name, value)
	}
	if p.signingSecret != "" {
		secret, err := read(p.signingSecret)
		if err != nil {
			return nil, nil, fmt.Errorf("args.signing_secret: %w", err)
		}
		Sign(request, secret, key, time.Now(), []byte(body))
	}
	if p.async {
		request.Header.Set("Fairlead-Callback-Url", callback.url)
		request.Header.Set("Fairlead-Callback-Token", callback.token)
		request.Header.Set("Fairlead-Callback-Method", p.callbackMethod)
	}
	Identify(request, job, key) // last, so that ours count
	return &prepared{request: request, hide: newMasker(hidden)}, vals, nil
}

func (p *plan) renderBody(from filler) (string, error) {
	if p.body == nil {
		return "", nil
	}
	body, err := p.body.render(bodyDialect(p.contentType), from, maxBody)
	if err != nil {
		return "", fmt.Errorf("args.body: %w", err)
	}
	return body, nil
}

// show makes what is shown of the request: filled in anew without secrets, and
// those that got into it another way hidden.
func (r *prepared) show(p *plan, vals *values) error {
	target, err := p.url.render(masked{vals})
	if err != nil {
		return err
	}
	body, err := p.renderBody(masked{vals})
	if err != nil {
		return err
	}
	r.shown = Message{Method: r.request.Method, URL: r.hide.Text(shownURL(target)), Headers: shownHeaders(r.request.Header, r.hide)}
	body, cut := r.hide.Beginning(body, keptBody)
	r.shown.setBody(body, cut)
	return nil
}
