// Package serve is what clients see: pages, the HTTP interface, logins and metrics. The application behind them is
// package service, which alone decides what a caller may see and do.
//
// In: requests of browsers, scripts and Prometheus.
// Out: responses; and what a user wants done, authorized and audited, to the folders below.
// May be imported by: app.
//
// Languages are made here alone: package language has a catalogue of each, by the English texts of templates and of
// phrases (core/model/phrase). Package words reads texts that were stored, or that plugins wrote, back as phrases.
//
// Its packages, each of which imports only those of later places:
//
//	api web > web/overview web/settings > web/containers web/policies
//	web/operations web/plugins web/login web/agents > web/choices web/components > web/history
//	web/find web/guide > web/page > web/webtest > words service > auth auth/oidctest chart language metrics
package serve
