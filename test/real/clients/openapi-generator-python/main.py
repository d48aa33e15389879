"""Creates, reads, updates, and deletes resources with the Python client of OpenAPI Generator."""

import os

from bailiwick import (
    ApiClient, Configuration, CronSchedule, DNSApi, DnsRecord, DnsRecordInput, DnsRecordPatch, Heartbeat, HeartbeatInput,
    HeartbeatPatch, HeartbeatPatchSchedule, HeartbeatsApi, Monitor, MonitorInput, MonitorPatch, MonitorPatchQuorum, MonitorsApi,
    Schedule, WebhookEndpoint, WebhookEndpointInput, WebhookEndpointPatch, WebhooksApi, ZoneInput,
)
from bailiwick.exceptions import NotFoundException

client = ApiClient(Configuration(host=os.environ["HUB"], access_token=os.environ["TOKEN"]))


def is_listed(page, id):
    assert [one.id for one in page.actual_instance.data].count(id) == 1


def is_not_found(get, id):
    try:
        get(id)
    except NotFoundException as error:
        assert error.data.code == "not_found"
    else:
        raise AssertionError(id)


def monitors():
    api = MonitorsApi(client)
    id = api.create_monitor(monitor_input=MonitorInput(target="http://127.0.0.1:9/", tags=["openapi-generator-python"])).id
    is_listed(api.list_monitors(tag="openapi-generator-python"), id)
    monitor = api.get_monitor(id).actual_instance
    assert isinstance(monitor, Monitor) and monitor.type == "http" and monitor.quorum.actual_instance == "majority"
    updated = api.update_monitor(id, monitor_patch=MonitorPatch(quorum=MonitorPatchQuorum(1), degraded_ms=None))
    assert updated.quorum.actual_instance == 1 and updated.degraded_ms is None
    api.delete_monitor(id)
    is_not_found(api.get_monitor, id)


def records():
    api = DNSApi(client)
    zone = api.create_zone(zone_input=ZoneInput(name="openapi-generator-python.example"))
    id = api.create_dns_record(zone.id, dns_record_input=DnsRecordInput(type="A", name="www", content="192.0.2.10")).id
    is_listed(api.list_zone_records(zone.id), id)
    record = api.get_dns_record(id).actual_instance
    assert isinstance(record, DnsRecord) and record.content == "192.0.2.10"
    updated = api.update_dns_record(id, dns_record_patch=DnsRecordPatch(content="192.0.2.11", ttl=60))
    assert updated.content == "192.0.2.11" and updated.ttl == 60
    api.delete_dns_record(id)
    is_not_found(api.get_dns_record, id)


def heartbeats():
    api = HeartbeatsApi(client)
    schedule = Schedule(CronSchedule(kind="cron", expression="0 3 * * *", timezone="UTC", grace_seconds=60))
    id = api.create_heartbeat(heartbeat_input=HeartbeatInput(name="openapi-generator-python", schedule=schedule)).id
    is_listed(api.list_heartbeats(status=["new", "up"]), id)
    heartbeat = api.get_heartbeat(id).actual_instance
    assert isinstance(heartbeat, Heartbeat) and heartbeat.schedule == schedule and heartbeat.last_ping_at is None
    patch = HeartbeatPatch(schedule=HeartbeatPatchSchedule(grace_seconds=20))
    assert api.update_heartbeat(id, heartbeat_patch=patch).schedule.actual_instance.grace_seconds == 20
    api.delete_heartbeat(id)
    is_not_found(api.get_heartbeat, id)


def webhook_endpoints():
    api = WebhooksApi(client)
    url = "http://127.0.0.1:9/openapi-generator-python"
    created = api.create_webhook_endpoint(WebhookEndpointInput(url=url, events=["monitor.alert"]))
    assert created.secret.startswith("whsec_")
    is_listed(api.list_webhook_endpoints(), created.id)
    endpoint = api.get_webhook_endpoint(created.id).actual_instance
    assert isinstance(endpoint, WebhookEndpoint) and endpoint.url == url and endpoint.events == ["monitor.alert"]
    updated = api.update_webhook_endpoint(created.id, webhook_endpoint_patch=WebhookEndpointPatch(description="alerts"))
    assert updated.description == "alerts"
    api.delete_webhook_endpoint(created.id)
    is_not_found(api.get_webhook_endpoint, created.id)


monitors()
records()
heartbeats()
webhook_endpoints()
