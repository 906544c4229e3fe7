package tables

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/pgurl"
	"github.com/fairlead-io/fairlead/internal/source"
)

// open prepares the database at a URL. Reading transactions ensure that it is only read; a
// file is also opened for reading only.
func open(text string) (*sql.DB, source.Dialect, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	switch scheme {
	case "postgres", "postgresql":
		db, err := openPostgres(text)
		return db, source.Postgres, err
	case "mysql", "mariadb":
		db, err := openMySQL(text)
		return db, source.MySQL, err
	case "sqlite":
		db, err := openSQLite(rest)
		return db, source.SQLite, err
	}
	return nil, 0, errors.New("the URL must begin with sqlite://, postgres:// or mysql://")
}

func openPostgres(text string) (*sql.DB, error) {
	if _, err := url.Parse(text); err != nil {
		// The parser's message repeats the URL, including the password.
		return nil, errors.New("invalid URL; escape special characters in the user name and password")
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("its URL: %w", err) // the driver's message omits passwords
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = patience
	}
	login, err := pgurl.BeforeConnect(text, config)
	if err != nil {
		return nil, fmt.Errorf("its URL: %w", err)
	}
	if login == nil {
		return stdlib.OpenDB(*config), nil
	}
	return stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(login)), nil
}

func openMySQL(text string) (*sql.DB, error) {
	config, err := mysqlurl.Parse(text)
	if err != nil {
		return nil, err
	}
	if config.Timeout == 0 {
		config.Timeout = patience
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func openSQLite(path string) (*sql.DB, error) {
	if path == "" || path == ":memory:" {
		return nil, errors.New("the URL must name a file, such as sqlite:///path/to/file")
	}
	settings := url.Values{"mode": {"ro"}}
	settings.Add("_pragma", "query_only(true)")
	settings.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()))
	return sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+settings.Encode())
}
