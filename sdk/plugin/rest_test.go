package plugin

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
)

func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int32
		r := newRest(func() { given.Add(1) })
		defer r.stop()
		sleep := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := given.Load(); got != want {
				t.Fatalf("memory was given back %d times, want %d", got, want)
			}
		}
		call := func(method string) {
			t.Helper()
			info := &grpc.UnaryServerInfo{FullMethod: method}
			if _, err := r.unary(t.Context(), nil, info, func(context.Context, any) (any, error) { return nil, nil }); err != nil {
				t.Fatal(err)
			}
		}
		sleep(restAfter, 1) // after the start
		for range 5 {
			call(ours + "Component/Configure")
			sleep(restAfter/2, 1) // busy
			err := r.stream(nil, nil, nil, func(any, grpc.ServerStream) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			sleep(restAfter/2, 1)
		}
		sleep(restAfter, 2)
		call("/grpc.health.v1.Health/Check")
		call(ours + "Registry/Limits")
		sleep(time.Hour, 2) // there is nothing more to give
	})
}

// silentStream is a call in which the host says something whenever it is asked.
type silentStream struct{ grpc.ServerStream }

func (silentStream) RecvMsg(any) error { return nil }

func TestRestDuringACallThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int32
		r := newRest(func() { given.Add(1) })
		defer r.stop()
		err := r.stream(nil, silentStream{}, nil, func(_ any, ss grpc.ServerStream) error {
			for i := range int32(3) {
				if err := ss.RecvMsg(nil); err != nil {
					return err
				}
				time.Sleep(restAfter)
				synctest.Wait()
				if got := given.Load(); got != i+1 {
					t.Errorf("memory was given back %d times, want %d", got, i+1)
				}
				time.Sleep(time.Hour)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
