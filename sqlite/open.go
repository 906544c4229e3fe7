package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Open opens a store with the default options. See OpenWith.
func Open(ctx context.Context, url string) (*Store, error) { return OpenWith(ctx, url, Options{}) }

// OpenWith opens the store in a file or in memory. It creates the file if it does not exist.
// url is a path, sqlite://relative/path, sqlite:///absolute/path, or :memory: for a database
// in memory. A URL has no parameters: OpenWith returns fairlead.ErrInvalid if the URL contains
// a question mark. To open a file with a question mark in its name, use its path. If
// options.NoMigrate is set, OpenWith returns an error unless the tables are up to date.
func OpenWith(ctx context.Context, url string, o Options) (*Store, error) {
	s, err := prepare(o)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	path, isURL := strings.CutPrefix(url, "sqlite://")
	if path == "" {
		return nil, fmt.Errorf("open %q: the URL does not name a file", url)
	}
	if file, _, given := strings.Cut(path, "?"); isURL && given { // the part after it may be a password
		return nil, fmt.Errorf("open sqlite://%s: the URL of an SQLite file takes no parameters; remove the question mark and everything after it: %w", file, fairlead.ErrInvalid)
	}
	if err := s.connect(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	if err := s.start(ctx); err != nil {
		err = sqlstore.MarkUnavailable(ctx, whyNot(path, err), busy) // what else passes later does not without help
		return nil, fmt.Errorf("open %s: %w", url, errors.Join(err, s.disconnect()))
	}
	return s, nil
}

// whyNot adds the cause that SQLite does not report to the error of a file that cannot
// be opened.
func whyNot(path string, err error) error {
	var e *driver.Error
	if !errors.As(err, &e) || e.Code()&0xff != codes.SQLITE_CANTOPEN {
		return err
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return fmt.Errorf("the path is a directory; name a file in it: %w", err)
	}
	if _, statErr := os.Stat(filepath.Dir(path)); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("the directory %s does not exist; create it first: %w", filepath.Dir(path), err)
	}
	return err
}

var validPrefix = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// prepare returns a store that is not connected yet.
func prepare(o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if !validPrefix.MatchString(o.Prefix) {
		return nil, fmt.Errorf("invalid prefix %q: use only letters, digits and underscores", o.Prefix)
	}
	if o.QueryTimeout <= 0 {
		o.QueryTimeout = defaultQueryTimeout
	}
	if o.Poll == 0 {
		o.Poll = defaultPoll
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Connector == nil {
		o.Connector = driver.NewConnector
	}
	switch o.Synchronous {
	case "":
		o.Synchronous = "full"
	case "full", "normal", "off":
	default:
		return nil, fmt.Errorf(`synchronous is %q; it must be "full", "normal" or "off"`, o.Synchronous)
	}
	s := &Store{options: o, lanes: &knownLanes{Lanes: sqlstore.NewLanes()}, hub: sqlstore.NewHub()}
	s.tokens = sqlstore.NewAlarm(func() { s.hub.Work(nil) })
	s.tables = func(name string) string {
		switch {
		case name == countingBatch, name == runningSweep:
			return slot(name)
		case name == "minimum":
			return "least"
		case name == clockArgument, ":"+name == rowsArgument, strings.HasPrefix(name, newArgument):
			return ":" + name
		}
		return `"` + o.Prefix + name + `"`
	}
	s.query = &sqlstore.Query{Expand: s.tables, Arg: func(int) string { return "?" }, NoJSON: "null", Lanes: s.lanes.Lanes, ByOutcome: " indexed by {{done_by_end}}", FailedLanes: true, ByFailedLane: " indexed by {{done_failed}}", ByID: " not indexed", Join: "cross join", LateOutput: true, Open: "open = 1"}
	if err := sqlstore.LoadStatements(files, sqlstore.SQLite, s.tables, &s.sql); err != nil {
		return nil, err
	}
	s.sql.fillIn()
	s.features = sqlstore.NewFeatures(database{s}, &s.sql.FeatureStatements, s.query)
	s.fair = sqlstore.NewFair(database{s}, &s.sql.FeatureStatements)
	s.inserts = insertTexts(s.sql.InsertJobs)
	var err error
	s.migrations, err = sqlstore.LoadMigrations(files, s.tables)
	return s, err
}

const (
	memory = ":memory:"
	// patience bounds how long readers and callers wait for a locked file. The writer
	// has its own: see patiently.
	patience = 5 * time.Second
	// logPages is how long the log grows before it is folded into the file. With a
	// longer log, pages that change often are written fewer times.
	logPages = 4000
	// writerCache and readerCache are the page caches of one connection, in KiB. Readers of
	// large documents fill theirs.
	writerCache = 32 << 10
	readerCache = 8 << 10
)

// connect opens the database handles. It makes no connection yet.
func (s *Store) connect(path string) error {
	settings := url.Values{}
	settings.Set("_txlock", "immediate")
	settings.Add("_pragma", "temp_store(memory)")
	settings.Add("_pragma", fmt.Sprintf("cache_size(%d)", -writerCache))
	var err error
	if path == memory {
		s.main, err = s.handle("file::memory:?" + settings.Encode())
		s.callers = s.main
		keepOne(s.main)
		return err
	}
	if err := createPrivate(path); err != nil {
		return err
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath() + "?"
	settings.Add("_pragma", "journal_mode(wal)")
	settings.Add("_pragma", fmt.Sprintf("synchronous(%s)", s.options.Synchronous))
	settings.Add("_pragma", fmt.Sprintf("wal_autocheckpoint(%d)", logPages))
	if s.main, err = s.handle(file + settings.Encode()); err != nil {
		return err
	}
	keepOne(s.main)
	settings.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()))
	if s.callers, err = s.handle(file + settings.Encode()); err != nil {
		return err
	}
	settings.Add("_pragma", "query_only(true)")
	settings.Add("_pragma", fmt.Sprintf("cache_size(%d)", -readerCache)) // the last one counts
	settings.Set("_txlock", "deferred")
	if s.readers, err = s.handle(file + settings.Encode()); err != nil {
		return err
	}
	readers := max(2, runtime.GOMAXPROCS(0)) + 1 // one of them watches for other processes
	s.readers.SetMaxOpenConns(readers)
	s.readers.SetMaxIdleConns(readers)
	return nil
}

// handle returns a handle for a data source name. It makes no connection yet.
func (s *Store) handle(name string) (*sql.DB, error) {
	connector, err := s.options.Connector(name)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// createPrivate creates a file that does not exist, for its owner only, whatever the
// umask: the file holds jobs and the hashes of tokens. SQLite gives its log and the
// log's index, beside the file, the mode of the file. An existing file keeps its mode,
// and is not opened here: closing it would drop the locks that another store of this
// process has on it. If a file cannot be created, SQLite reports why.
func createPrivate(path string) error {
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return file.Close()
}

// keepOne limits a handle to a single connection, which stays open.
func keepOne(db *sql.DB) {
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
}

// start brings the schema up to date and starts the store.
func (s *Store) start(ctx context.Context) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	if s.options.SchemaOnly {
		s.close = sync.OnceValue(s.disconnect)
		return nil
	}
	if err := s.bringUp(ctx); err != nil {
		return err
	}
	if s.readers != nil {
		s.reads = &preparedReads{DB: s.readers, all: map[string]*sql.Stmt{}}
	}
	s.writer = newWriter(s)
	s.listener = newListener(s)
	s.close = sync.OnceValue(s.closeAll)
	return nil
}

// reach opens the file. If many processes open a new file at once, one turns its log on
// and the others find the file busy.
func (s *Store) reach(ctx context.Context) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	return s.awaitFile(ctx, func() error { return s.main.PingContext(ctx) })
}

// awaitFile is patiently for a store that starts: it says that it waits.
func (s *Store) awaitFile(ctx context.Context, f func() error) error {
	wait := sqlstore.NewWait(s.options.Waiting)
	return patiently(ctx, func() error {
		err := f()
		if busy(err) {
			wait.For(func() string { return "another process that has the file locked" })
		}
		return err
	})
}

// none is the result of functions without a result.
type none = struct{}

// busy reports whether the file was locked by another connection.
func busy(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && (e.Code()&0xff == codes.SQLITE_BUSY || e.Code()&0xff == codes.SQLITE_LOCKED)
}
