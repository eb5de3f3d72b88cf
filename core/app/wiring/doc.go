// Package wiring fits one part of the core to the small interface that another
// part declares. Each adapter is a few lines.
package wiring
