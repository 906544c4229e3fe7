// Package mysqlgrammar parses the statements of the MySQL store with a grammar of MySQL 8,
// because the tests run them on MariaDB only. It is a module of its own so that the parser
// is no dependency of other programs.
package mysqlgrammar
