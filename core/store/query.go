package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// encode returns v as compact JSON with '<', '>' and '&' as they are: it is not meant for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil // written at once, so that the buffer has no spare room
}

// defaultLimit is how many rows a reader gets that does not say how many it wants.
const defaultLimit = 100

func (s *Store) number(ctx context.Context, doing, query string, args ...any) (n int64, err error) {
	err = s.reader.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, s.wrap(doing, err)
}

// scanner is the Scan of a row or of rows.
type scanner func(dest ...any) error

// queryRows reads all rows of a query.
func queryRows[T any](
	ctx context.Context, s *Store, doing, text string, args []any, read func(scanner) (T, error),
) (out []T, err error) {
	err = eachRow(ctx, s.reader, func(scan scanner) error {
		v, err := read(scan)
		out = append(out, v)
		return err
	}, text, args...)
	return out, s.wrap(doing, err)
}

// found turns "no rows" into ErrNotFound.
func found(err error, what string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf(what+": %w", append(args, ErrNotFound)...)
	}
	return err
}

func orDefault(limit int) int {
	if limit < 1 {
		return defaultLimit
	}
	return limit
}

func orNewest(before int64) int64 {
	if before <= 0 {
		return 1<<63 - 1
	}
	return before
}

// eachRow reads the rows of a query one by one; none is not an error.
func eachRow(ctx context.Context, from source, read func(scanner) error, text string, args ...any) error {
	rows, err := from.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
