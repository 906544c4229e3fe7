package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/internal/pgurl"
)

// parseURL reads a URL or keyword string, which may have settings of the pool, and say
// where the password is.
func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.BeforeConnect, err = pgurl.BeforeConnect(url, config.ConnConfig)
	return config, err
}

// connectAs makes a connection outside the pools.
func connectAs(ctx context.Context, config *pgxpool.Config) (*pgx.Conn, error) {
	login := config.ConnConfig.Copy()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, login); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, login)
}
