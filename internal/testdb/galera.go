package testdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Galera starts a cluster of MariaDB servers that replicate to each other and all accept
// writes. They are stopped when the test ends.
func Galera(t testing.TB, members int) []*Server {
	t.Helper()
	var cluster []*Server
	first := 0 // port of the member that the others join
	for n := range members {
		ports := make([]int, 3)
		for i := range ports {
			var err error
			if ports[i], err = freePort(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		}
		server, err := startMember(t.Context(), n, first, ports)
		requireServer(t, err)
		stopAtCleanup(t, server)
		cluster = append(cluster, server)
		if first == 0 {
			first = ports[0]
		}
	}
	return cluster
}

// startMember starts a server that joins the cluster at a port, or founds a cluster. A
// joining server receives its data from another member over rsync.
func startMember(ctx context.Context, n, cluster int, ports []int) (*Server, error) {
	provider, err := findOrInstall(ctx, "galera-4", findGalera)
	if err != nil {
		return nil, err
	}
	if _, err := findOrInstall(ctx, "rsync", func(context.Context) (string, error) { return lookPath("rsync", "/usr/bin") }); err != nil {
		return nil, err
	}
	server, err := mariadbSpec(ctx, Options{})
	if err != nil {
		return nil, err
	}
	meet := "gcomm://"
	if cluster > 0 {
		meet += fmt.Sprintf("%s:%d", loopback, cluster)
	}
	alone := server.command
	server.command = func(dir string, port int) ([]string, error) {
		argv, err := alone(dir, port)
		return append(argv,
			"--wsrep-on=ON",
			"--wsrep-provider="+provider,
			"--wsrep-cluster-name=fairlead",
			"--wsrep-cluster-address="+meet,
			fmt.Sprintf("--wsrep-node-name=member%d", n+1),
			"--wsrep-node-address="+loopback,
			"--wsrep-sst-method=rsync",
			fmt.Sprintf("--wsrep-sst-receive-address=%s:%d", loopback, ports[2]),
			"--wsrep-provider-options="+strings.Join([]string{
				fmt.Sprintf("gmcast.listen_addr=tcp://%s:%d", loopback, ports[0]),
				fmt.Sprintf("ist.recv_addr=%s:%d", loopback, ports[1]),
				"gcache.size=8M", "pc.recovery=false",
			}, ";"),
			"--binlog-format=ROW",
			"--innodb-autoinc-lock-mode=2",
		), err
	}
	server.ready = probeMember
	return start(ctx, server)
}

// probeMember returns an error unless a server responds and has joined its cluster.
func probeMember(ctx context.Context, dir string, _ int) (err error) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "unix", mysqlSocket(dir), mysqlUser
	db, err := openMySQLConfig(config)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, db.Close()) }()
	return joined(ctx, db)
}

func joined(ctx context.Context, db *sql.DB) error {
	var name, ready string
	if err := db.QueryRowContext(ctx, "show status like 'wsrep_ready'").Scan(&name, &ready); err != nil {
		return err
	}
	if ready != "ON" {
		return errors.New("it has not joined its cluster yet")
	}
	return nil
}

// findGalera returns the path of the replication library.
func findGalera(context.Context) (string, error) {
	var missing error
	for _, path := range []string{"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"} {
		if _, missing = os.Stat(path); missing == nil {
			return path, nil
		}
	}
	return "", missing
}
