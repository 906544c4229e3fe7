package mysqlurl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
)

func TestParse(t *testing.T) {
	for _, good := range []struct{ url, net, addr, user, password, database string }{
		{"mysql://root@127.0.0.1:3307/jobs", "tcp", "127.0.0.1:3307", "root", "", "jobs"},
		{"mysql://u:p%40ss%2Fw%3Ford@db.example.com/jobs?tls=skip-verify&timeout=3s", "tcp", "db.example.com:3306", "u", "p@ss/w?ord", "jobs"},
		{"mariadb://u@[::1]:3306/a%20b", "tcp", "[::1]:3306", "u", "", "a b"},
		{"mysql://u@/jobs?socket=/run/mysqld/mysqld.sock", "unix", "/run/mysqld/mysqld.sock", "u", "", "jobs"},
	} {
		config, err := mysqlurl.Parse(good.url)
		if err != nil {
			t.Errorf("%s: %v", good.url, err)
			continue
		}
		got := []string{config.Net, config.Addr, config.User, config.Passwd, config.DBName}
		if want := []string{good.net, good.addr, good.user, good.password, good.database}; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s is understood as %q, want %q", good.url, got, want)
		}
	}
	for _, bad := range []string{"postgres://u@h/db", "mysql://u@h", "mysql://u@h/", "mysql://u:secret@h:port/db", "mysql://u@h/db?tls=nonsense&x=%zz"} {
		config, err := mysqlurl.Parse(bad)
		if !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("%s is understood as %+v, %v", bad, config, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}
