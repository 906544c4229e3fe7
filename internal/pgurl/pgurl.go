// Package pgurl supports parameters in PostgreSQL URLs that the driver does not support.
package pgurl

import (
	"context"
	"net/url"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/password"
)

// BeforeConnect removes password_file and password_command from a configuration that the
// driver has parsed from text, a URL or keyword string. It returns a function to call before
// each connection with a copy of the configuration, or nil if the password is fixed.
func BeforeConnect(text string, config *pgx.ConnConfig) (func(context.Context, *pgx.ConnConfig) error, error) {
	file, command := config.RuntimeParams[password.FileParameter], config.RuntimeParams[password.CommandParameter]
	delete(config.RuntimeParams, password.FileParameter)
	delete(config.RuntimeParams, password.CommandParameter)
	source, err := password.From(written(text), file, command)
	if err != nil || source == nil {
		return nil, err
	}
	return func(ctx context.Context, config *pgx.ConnConfig) (err error) {
		config.Password, err = source(ctx)
		return err
	}, nil
}

// written returns the password in a URL. Passwords from the environment and PostgreSQL's
// own files have lower precedence than the URL.
func written(text string) string {
	parsed, err := url.Parse(text)
	if err != nil {
		return ""
	}
	known, _ := parsed.User.Password()
	return known
}
