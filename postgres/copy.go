package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// copyFrom is from how many jobs on a batch is copied. It takes three round
// trips instead of one, and a quarter less write-ahead log.
const copyFrom = 100

// copyIn stores many jobs without keys.
func (s *Store) copyIn(ctx context.Context, fresh *newJobs) error {
	held, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer held.Release() // which ends a transaction that is still open
	conn := held.Conn().PgConn()
	results, err := conn.Exec(ctx, s.sql.BeginCopy).ReadAll()
	if err != nil {
		return err
	}
	clock := results[len(results)-1].Rows
	if len(clock) != 1 || len(clock[0]) != 1 {
		return fmt.Errorf("the database's clock is missing")
	}
	now, err := strconv.ParseInt(string(clock[0][0]), 10, 64)
	if err != nil {
		return fmt.Errorf("the database's clock: %w", err)
	}
	jobs, ready, later := fresh.copies(now)
	if err := jobs.send(ctx, conn, s.sql.CopyJobs); err != nil {
		return err
	}
	if later.rows > 0 {
		if err := later.send(ctx, conn, s.sql.CopyLater); err != nil {
			return err
		}
	}
	return ready.send(ctx, conn, s.sql.CopyReady+"; commit")
}

// copies are the rows of new jobs as COPY wants them.
func (n *newJobs) copies(now int64) (jobs, ready, later *copyRows) {
	jobs, ready, later = newCopyRows(10), newCopyRows(8), newCopyRows(6)
	for i, job := range n.jobs {
		notBefore, startBy := sqlstore.Micros(job.NotBefore), sqlstore.Micros(job.StartBy)
		if startBy == 0 {
			startBy = notBefore
		}
		if startBy == 0 {
			startBy = now
		}
		id, lane, turn := n.ids[i], n.lanes[i], int16(-job.Priority)
		jobs.row()
		jobs.int64s(id, startBy, notBefore, now)
		jobs.int32s(lane)
		jobs.int16s(turn, sqlstore.Flags(job))
		jobs.bytes(sqlstore.Policy(job))
		jobs.bytes([]byte(job.Trace))
		jobs.bytes(job.Args)
		if notBefore > now {
			later.row()
			later.int64s(id, notBefore)
			later.int32s(lane, 0)
			later.int16s(0, 0)
			continue
		}
		ready.row()
		ready.int64s(id, startBy)
		ready.int32s(lane, 0)
		ready.int16s(turn, 0, 0, 0)
	}
	return jobs, ready, later
}

// copyRows writes rows in the binary format of COPY: per row the number of
// columns, per column its length and its bytes.
type copyRows struct {
	columns uint16
	rows    int
	buf     []byte
}

const (
	copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" // signature, flags, no extension
	copyEnd    = 0xffff
	copyNull   = 0xffffffff
)

func newCopyRows(columns uint16) *copyRows {
	return &copyRows{columns: columns, buf: []byte(copyHeader)}
}

func (c *copyRows) row() {
	c.rows++
	c.buf = binary.BigEndian.AppendUint16(c.buf, c.columns)
}

func (c *copyRows) int64s(values ...int64) {
	for _, v := range values {
		c.buf = binary.BigEndian.AppendUint32(c.buf, 8)
		c.buf = binary.BigEndian.AppendUint64(c.buf, uint64(v))
	}
}

func (c *copyRows) int32s(values ...int32) {
	for _, v := range values {
		c.buf = binary.BigEndian.AppendUint32(c.buf, 4)
		c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(v))
	}
}

func (c *copyRows) int16s(values ...int16) {
	for _, v := range values {
		c.buf = binary.BigEndian.AppendUint32(c.buf, 2)
		c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(v))
	}
}

// bytes is text or json; empty means null.
func (c *copyRows) bytes(value []byte) {
	if len(value) == 0 {
		c.buf = binary.BigEndian.AppendUint32(c.buf, copyNull)
		return
	}
	c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(len(value)))
	c.buf = append(c.buf, value...)
}

func (c *copyRows) send(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	_, err := conn.CopyFrom(ctx, bytes.NewReader(binary.BigEndian.AppendUint16(c.buf, copyEnd)), sql)
	return err
}
