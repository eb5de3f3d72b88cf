package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
)

const (
	// maxScans is of how many images it is kept what was found, the latest.
	maxScans = 200
	// maxComparisons is how many pairs of images are remembered, the latest.
	maxComparisons = 500
)

// Scan returns what a scanner found in an image, and when; false when that is not stored.
func (s *Store) Scan(ctx context.Context, image string) (report []byte, at time.Time, found bool, err error) {
	var body []byte
	var ms int64
	err = s.reader.QueryRowContext(ctx, "SELECT scanned_at, body FROM scans WHERE image = ?", image).Scan(&ms, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, at, false, nil
	}
	if err == nil {
		report, err = inflate(body)
	}
	if err != nil {
		return nil, at, false, s.wrap("read the scan of "+image, err)
	}
	return report, instant(ms), true, nil
}

// PutScan stores what a scanner found in an image, and forgets the oldest beyond a bound.
func (s *Store) PutScan(ctx context.Context, image string, at time.Time, report []byte) error {
	body, err := s.cache.deflate(report)
	if err != nil {
		return s.wrap("store the scan of "+image, err)
	}
	return s.write(ctx, "store the scan of "+image, func(t tx) error {
		if _, err := t.exec("INSERT OR REPLACE INTO scans (image, scanned_at, body) VALUES (?, ?, ?)", image,
			millis(at), body); err != nil {
			return err
		}
		_, err := t.exec("DELETE FROM scans WHERE image NOT IN (SELECT image FROM scans ORDER BY scanned_at DESC LIMIT ?)", maxScans)
		return err
	}, nil)
}

// Comparisons calls each with every comparison of images, the latest first.
func (s *Store) Comparisons(ctx context.Context, each func(images string, doc []byte)) error {
	return s.wrap("read how images compare", eachRow(ctx, s.reader, func(scan scanner) error {
		var images string
		var doc []byte
		if err := scan(&images, &doc); err != nil {
			return err
		}
		each(images, doc)
		return nil
	}, "SELECT images, doc FROM comparisons ORDER BY compared_at DESC"))
}

// Comparison returns how two images compare; false when that is not stored.
func (s *Store) Comparison(ctx context.Context, images string) (doc []byte, found bool, err error) {
	err = s.reader.QueryRowContext(ctx, "SELECT doc FROM comparisons WHERE images = ?", images).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return doc, err == nil, s.wrap("read how images compare", err)
}

// PutComparison stores how two images compare, with events, and forgets the oldest beyond a bound.
func (s *Store) PutComparison(ctx context.Context, images string, at time.Time, doc []byte, ev ...event.Event) error {
	return s.write(ctx, "store how images compare", func(t tx) error {
		if _, err := t.exec("INSERT OR REPLACE INTO comparisons (images, compared_at, doc) VALUES (?, ?, ?)", images,
			millis(at), string(doc)); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM comparisons WHERE images NOT IN (SELECT images FROM comparisons ORDER BY compared_at DESC LIMIT ?)", maxComparisons); err != nil {
			return err
		}
		return s.append(t, ev)
	}, s.bus.Wake)
}

// pruneScans forgets what was found in images before a time.
func (t tx) pruneScans(before int64) error {
	if _, err := t.exec("DELETE FROM scans WHERE scanned_at < ?", before); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM comparisons WHERE compared_at < ?", before)
	return err
}
