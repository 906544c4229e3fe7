// Package pgurl reads what URLs of PostgreSQL say beyond what the driver understands.
package pgurl

import (
	"context"
	"net/url"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/password"
)

// BeforeConnect takes password_file and password_command out of what the driver has read
// from a URL or keyword string, and returns what is to be called with a copy of it before
// each connection; nil if the password is known.
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

// written is the password in a URL. Others, of the environment and of PostgreSQL's own
// files, stand back behind what the URL says.
func written(text string) string {
	parsed, err := url.Parse(text)
	if err != nil {
		return ""
	}
	known, _ := parsed.User.Password()
	return known
}
