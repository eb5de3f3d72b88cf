// Package e2e holds the tests and benchmarks that run the built program as its
// users do: with real engines and registries, or with simulated ones where it
// is about speed, scale and kills.
package e2e
