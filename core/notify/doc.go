// Package notify has triggers say what happened: dispatch plans, sends and repeats messages, statestream keeps
// mirrors such as MQTT current, signedlink makes the signed links in messages, webpush has the browsers of users
// notified, and testrun tries a trigger out.
//
// In: events, read with a cursor, and the configured triggers.
// Out: deliveries, each with its attempts and its outcome; calls of triggers.
// May be imported by: app, serve, store.
//
// Its packages, each of which imports only those of later places:
//
//	testrun > dispatch > delivery signedlink statestream webpush
package notify
