// Package mysqlurl parses the URLs of MySQL and MariaDB databases.
package mysqlurl

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/password"
)

// Parse converts a URL to a driver configuration. The URL has the form
// mysql://user:password@host:port/database?name=value…. Its parameters are the driver's own,
// socket=/path for a Unix socket instead of host and port, and password_file or
// password_command for a password that changes. Parse returns fairlead.ErrInvalid if the URL
// is invalid. Its errors do not contain the password.
func Parse(text string) (*mysql.Config, error) {
	parsed, err := url.Parse(text)
	if err != nil {
		// The parser's error contains the URL, including the password.
		return nil, fmt.Errorf("invalid URL; escape special characters in the user name and password: %w", fairlead.ErrInvalid)
	}
	if parsed.Scheme != "mysql" && parsed.Scheme != "mariadb" {
		return nil, fmt.Errorf("the URL has scheme %q instead of mysql: %w", parsed.Scheme, fairlead.ErrInvalid)
	}
	parameters := parsed.Query()
	socket := parameters.Get("socket")
	parameters.Del("socket")
	written, _ := parsed.User.Password()
	source, err := password.From(written, parameters.Get(password.FileParameter), parameters.Get(password.CommandParameter))
	if err != nil {
		return nil, err
	}
	parameters.Del(password.FileParameter)
	parameters.Del(password.CommandParameter)
	config, err := mysql.ParseDSN("/?" + parameters.Encode())
	if err != nil {
		return nil, fmt.Errorf("parse the parameters of the URL: %w: %w", err, fairlead.ErrInvalid)
	}
	config.DBName = strings.TrimPrefix(parsed.Path, "/")
	if config.DBName == "" {
		return nil, fmt.Errorf("the URL does not name a database; add /name: %w", fairlead.ErrInvalid)
	}
	config.User = parsed.User.Username()
	config.Passwd = written
	config.Net, config.Addr = "tcp", address(parsed)
	if socket != "" {
		config.Net, config.Addr = "unix", socket
	}
	config.InterpolateParams = true // one round trip instead of three for unprepared statements
	config.MultiStatements = false
	config.Logger = &mysql.NopLogger{} // errors are returned instead
	return config, readPassword(config, source)
}

// readPassword makes each connection use the current password of its source.
func readPassword(config *mysql.Config, source password.Source) error {
	if source == nil {
		return nil
	}
	return config.Apply(mysql.BeforeConnect(func(ctx context.Context, config *mysql.Config) (err error) {
		config.Passwd, err = source(ctx)
		return err
	}))
}

func address(parsed *url.URL) string {
	host, port := parsed.Hostname(), parsed.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "3306"
	}
	return net.JoinHostPort(host, port)
}
