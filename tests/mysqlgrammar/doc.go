// Package mysqlgrammar parses the statements of the MySQL store with a grammar of MySQL 8,
// because the tests run them on MariaDB only. It is a module of its own so that the parser
// is no dependency of other programs. The whole module belongs to the second tier, because
// compiling the parser takes minutes; see internal/tier.
package mysqlgrammar
