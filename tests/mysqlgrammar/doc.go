// Package mysqlgrammar parses the statements of the MySQL store with a grammar of MySQL 8,
// because the tests run them only on MariaDB. It is a module of its own, so that other
// programs do not depend on the parser. The whole module belongs to the second tier,
// because compiling the parser takes minutes; see internal/tier.
package mysqlgrammar
