// Creates, reads, updates, and deletes resources with the client of oapi-codegen.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"strings"

	"clients/bailiwick"

	"github.com/oapi-codegen/nullable"
)

var (
	ctx    = context.Background()
	client *bailiwick.ClientWithResponses
)

func main() {
	log.SetFlags(log.Lshortfile)
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client = value(bailiwick.NewClientWithResponses(os.Getenv("HUB"), bailiwick.WithRequestEditorFn(authorize)))
	monitors()
	records()
	heartbeats()
	webhookEndpoints()
}

func monitors() {
	target, tag := "http://127.0.0.1:9/", "oapi-codegen"
	created := value(client.CreateMonitorWithResponse(ctx, nil, bailiwick.MonitorInput{Target: &target, Tags: &[]string{tag}})).JSON201
	page := value(value(client.ListMonitorsWithResponse(ctx, &bailiwick.ListMonitorsParams{Tag: &tag})).JSON200.AsMonitorList())
	same(len(page.Data), 1)
	same(page.Data[0].Id, created.Id)

	monitor := value(value(client.GetMonitorWithResponse(ctx, created.Id, nil)).JSON200.AsMonitor())
	same(monitor.Type, bailiwick.MonitorTypeHttp)
	same(value(monitor.Quorum.AsMonitorQuorum0()), bailiwick.MonitorQuorum0Majority)

	var quorum bailiwick.MonitorPatch_Quorum
	check(quorum.FromMonitorPatchQuorum1(1))
	patch := bailiwick.MonitorPatch{Quorum: nullable.NewNullableWithValue(quorum), DegradedMs: nullable.NewNullNullable[int]()}
	updated := value(client.UpdateMonitorWithResponse(ctx, created.Id, nil, patch)).JSON200
	same(value(updated.Quorum.AsMonitorQuorum1()), 1)
	same(updated.DegradedMs.IsNull(), true)

	same(value(client.DeleteMonitorWithResponse(ctx, created.Id, nil)).StatusCode(), 204)
	isNotFound(value(client.GetMonitorWithResponse(ctx, created.Id, nil)).ApplicationproblemJSON404)
}

func records() {
	zone := value(client.CreateZoneWithResponse(ctx, nil, bailiwick.ZoneInput{Name: "oapi-codegen.example"})).JSON201
	content, newContent, ttl := "192.0.2.10", "192.0.2.11", 60
	input := bailiwick.DnsRecordInput{Type: "A", Name: "www", Content: &content}
	created := value(client.CreateDnsRecordWithResponse(ctx, zone.Id, nil, input)).JSON201
	page := value(value(client.ListZoneRecordsWithResponse(ctx, zone.Id, nil)).JSON200.AsDnsRecordList())
	isListed := false
	for _, one := range page.Data {
		isListed = isListed || one.Id == created.Id
	}
	same(isListed, true)

	record := value(value(client.GetDnsRecordWithResponse(ctx, created.Id, nil)).JSON200.AsDnsRecord())
	same(record.Content, content)
	patch := bailiwick.DnsRecordPatch{Content: &newContent, Ttl: &ttl}
	updated := value(client.UpdateDnsRecordWithResponse(ctx, created.Id, nil, patch)).JSON200
	same(updated.Content, newContent)
	same(updated.Ttl, ttl)

	same(value(client.DeleteDnsRecordWithResponse(ctx, created.Id, nil)).StatusCode(), 204)
	isNotFound(value(client.GetDnsRecordWithResponse(ctx, created.Id, nil)).ApplicationproblemJSON404)
}

func heartbeats() {
	cron := bailiwick.CronSchedule{Expression: "0 3 * * *", Timezone: "UTC", GraceSeconds: 60}
	var schedule bailiwick.Schedule
	check(schedule.FromCronSchedule(cron))
	created := value(client.CreateHeartbeatWithResponse(ctx, nil, bailiwick.HeartbeatInput{Name: "oapi-codegen", Schedule: schedule})).JSON201
	name := created.Name
	page := value(value(client.ListHeartbeatsWithResponse(ctx, &bailiwick.ListHeartbeatsParams{Q: &name})).JSON200.AsHeartbeatList())
	same(len(page.Data), 1)
	same(page.Data[0].Id, created.Id)

	heartbeat := value(value(client.GetHeartbeatWithResponse(ctx, created.Id, nil)).JSON200.AsHeartbeat())
	same(value(heartbeat.Schedule.AsCronSchedule()).Expression, cron.Expression)
	same(heartbeat.LastPingAt.IsNull(), true)

	patch := bailiwick.HeartbeatPatch{Methods: nullable.NewNullableWithValue(bailiwick.HeartbeatPatchMethodsPOST)}
	updated := value(client.UpdateHeartbeatWithResponse(ctx, created.Id, nil, patch)).JSON200
	same(updated.Methods, bailiwick.HeartbeatMethodsPOST)

	same(value(client.DeleteHeartbeatWithResponse(ctx, created.Id, nil)).StatusCode(), 204)
	isNotFound(value(client.GetHeartbeatWithResponse(ctx, created.Id, nil)).ApplicationproblemJSON404)
}

func webhookEndpoints() {
	input := bailiwick.WebhookEndpointInput{
		Url:    "http://127.0.0.1:9/oapi-codegen",
		Events: []bailiwick.WebhookEndpointInputEvents{bailiwick.WebhookEndpointInputEventsMonitorAlert},
	}
	created := value(client.CreateWebhookEndpointWithResponse(ctx, nil, input)).JSON201
	same(strings.HasPrefix(*created.Secret, "whsec_"), true)
	page := value(value(client.ListWebhookEndpointsWithResponse(ctx, nil)).JSON200.AsWebhookEndpointList())
	isListed := false
	for _, one := range page.Data {
		isListed = isListed || one.Id == created.Id
	}
	same(isListed, true)

	endpoint := value(value(client.GetWebhookEndpointWithResponse(ctx, created.Id, nil)).JSON200.AsWebhookEndpoint())
	same(endpoint.Url, input.Url)
	same(endpoint.Events[0], bailiwick.WebhookEndpointEventsMonitorAlert)

	description := "alerts"
	patch := bailiwick.WebhookEndpointPatch{Description: &description}
	updated := value(client.UpdateWebhookEndpointWithResponse(ctx, created.Id, nil, patch)).JSON200
	same(updated.Description, description)

	same(value(client.DeleteWebhookEndpointWithResponse(ctx, created.Id, nil)).StatusCode(), 204)
	isNotFound(value(client.GetWebhookEndpointWithResponse(ctx, created.Id, nil)).ApplicationproblemJSON404)
}

func isNotFound(problem *bailiwick.NotFound) {
	same(problem.Code, bailiwick.ProblemCodeNotFound)
}

func value[T any](result T, err error) T {
	check(err)
	return result
}

func check(err error) {
	if err != nil {
		log.Output(3, err.Error())
		os.Exit(1)
	}
}

func same[T comparable](actual, expected T) {
	if actual != expected {
		log.Panicf("%v is not %v", actual, expected)
	}
}
