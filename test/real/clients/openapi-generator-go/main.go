// Creates, reads, updates, and deletes resources with the Go client of OpenAPI Generator.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"

	"clients/bailiwick"
)

var (
	ctx    = context.WithValue(context.Background(), bailiwick.ContextAccessToken, os.Getenv("TOKEN"))
	client *bailiwick.APIClient
)

func main() {
	log.SetFlags(log.Lshortfile)
	configuration := bailiwick.NewConfiguration()
	configuration.Servers = bailiwick.ServerConfigurations{{URL: os.Getenv("HUB")}}
	client = bailiwick.NewAPIClient(configuration)
	monitors()
	records()
	heartbeats()
	webhookEndpoints()
}

func monitors() {
	api := client.MonitorsAPI
	input := bailiwick.MonitorInput{Target: bailiwick.PtrString("http://127.0.0.1:9/"), Tags: []string{"openapi-generator-go"}}
	id := body(api.CreateMonitor(ctx).MonitorInput(input).Execute()).Id
	page := body(api.ListMonitors(ctx).Tag("openapi-generator-go").Execute()).MonitorList
	same(len(page.Data), 1)
	same(page.Data[0].Id, id)

	monitor := body(api.GetMonitor(ctx, id).Execute()).Monitor
	same(monitor.Type, "http")
	same(*monitor.Quorum.String, "majority")

	patch := bailiwick.MonitorPatch{}
	patch.SetQuorum(bailiwick.MonitorPatchQuorum{Int32: bailiwick.PtrInt32(1)})
	patch.SetDegradedMsNil()
	updated := body(api.UpdateMonitor(ctx, id).MonitorPatch(patch).Execute())
	same(*updated.Quorum.Int32, 1)
	same(updated.DegradedMs.Get(), nil)

	deleted(api.DeleteMonitor(ctx, id).Execute())
	isNotFound(api.GetMonitor(ctx, id).Execute())
}

func records() {
	api := client.DNSAPI
	zone := body(api.CreateZone(ctx).ZoneInput(bailiwick.ZoneInput{Name: "openapi-generator-go.example"}).Execute())
	input := bailiwick.DnsRecordInput{Type: "A", Name: "www", Content: bailiwick.PtrString("192.0.2.10")}
	id := body(api.CreateDnsRecord(ctx, zone.Id).DnsRecordInput(input).Execute()).Id
	isListed := false
	for _, one := range body(api.ListZoneRecords(ctx, zone.Id).Execute()).DnsRecordList.Data {
		isListed = isListed || one.Id == id
	}
	same(isListed, true)

	same(body(api.GetDnsRecord(ctx, id).Execute()).DnsRecord.Content, "192.0.2.10")
	patch := bailiwick.DnsRecordPatch{Content: bailiwick.PtrString("192.0.2.11"), Ttl: bailiwick.PtrInt32(60)}
	updated := body(api.UpdateDnsRecord(ctx, id).DnsRecordPatch(patch).Execute())
	same(updated.Content, "192.0.2.11")
	same(updated.Ttl, 60)

	deleted(api.DeleteDnsRecord(ctx, id).Execute())
	isNotFound(api.GetDnsRecord(ctx, id).Execute())
}

func heartbeats() {
	api := client.HeartbeatsAPI
	schedule := bailiwick.CronScheduleAsSchedule(bailiwick.NewCronSchedule("cron", "0 3 * * *", "UTC", 60))
	input := bailiwick.HeartbeatInput{Name: "openapi-generator-go", Schedule: schedule}
	id := body(api.CreateHeartbeat(ctx).HeartbeatInput(input).Execute()).Id
	page := body(api.ListHeartbeats(ctx).Q("openapi-generator-go").Status([]string{"new", "up"}).Execute()).HeartbeatList
	same(len(page.Data), 1)
	same(page.Data[0].Id, id)

	heartbeat := body(api.GetHeartbeat(ctx, id).Execute()).Heartbeat
	same(heartbeat.Schedule.CronSchedule.Expression, "0 3 * * *")
	same(heartbeat.LastPingAt.Get(), nil)

	var changes bailiwick.HeartbeatPatchSchedule
	changes.SetGraceSeconds(20)
	updated := body(api.UpdateHeartbeat(ctx, id).HeartbeatPatch(bailiwick.HeartbeatPatch{Schedule: &changes}).Execute())
	same(updated.Schedule.CronSchedule.GraceSeconds, 20)

	deleted(api.DeleteHeartbeat(ctx, id).Execute())
	isNotFound(api.GetHeartbeat(ctx, id).Execute())
}

func webhookEndpoints() {
	api := client.WebhooksAPI
	input := bailiwick.WebhookEndpointInput{Url: "http://127.0.0.1:9/openapi-generator-go", Events: []string{"monitor.alert"}}
	created := body(api.CreateWebhookEndpoint(ctx).WebhookEndpointInput(input).Execute())
	same(strings.HasPrefix(*created.Secret, "whsec_"), true)
	isListed := false
	for _, one := range body(api.ListWebhookEndpoints(ctx).Execute()).WebhookEndpointList.Data {
		isListed = isListed || one.Id == created.Id
	}
	same(isListed, true)

	endpoint := body(api.GetWebhookEndpoint(ctx, created.Id).Execute()).WebhookEndpoint
	same(endpoint.Url, input.Url)
	same(endpoint.Events[0], "monitor.alert")

	patch := bailiwick.WebhookEndpointPatch{Description: bailiwick.PtrString("alerts")}
	same(body(api.UpdateWebhookEndpoint(ctx, created.Id).WebhookEndpointPatch(patch).Execute()).Description, "alerts")

	deleted(api.DeleteWebhookEndpoint(ctx, created.Id).Execute())
	isNotFound(api.GetWebhookEndpoint(ctx, created.Id).Execute())
}

func body[T any](result T, _ *http.Response, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return result
}

func deleted(response *http.Response, err error) {
	same(err, nil)
	same(response.StatusCode, http.StatusNoContent)
}

func isNotFound[T any](_ T, _ *http.Response, err error) {
	var failure *bailiwick.GenericOpenAPIError
	same(errors.As(err, &failure), true)
	same(failure.Model().(bailiwick.Problem).Code, "not_found")
}

func same[T comparable](actual, expected T) {
	if actual != expected {
		log.Panicf("%v is not %v", actual, expected)
	}
}
