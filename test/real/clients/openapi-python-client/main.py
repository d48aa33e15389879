"""Creates, reads, updates, and deletes resources with the client of openapi-python-client."""

import importlib
import os
import pkgutil

import bailiwick
from bailiwick import AuthenticatedClient
from bailiwick.api.dns import (
    create_dns_record, create_zone, delete_dns_record, get_dns_record, list_zone_records, update_dns_record,
)
from bailiwick.api.heartbeats import create_heartbeat, delete_heartbeat, get_heartbeat, list_heartbeats, update_heartbeat
from bailiwick.api.monitors import create_monitor, delete_monitor, get_monitor, list_monitors, update_monitor
from bailiwick.api.webhooks import (
    create_webhook_endpoint, delete_webhook_endpoint, get_webhook_endpoint, list_webhook_endpoints, update_webhook_endpoint,
)
from bailiwick.models import (
    CronSchedule, DnsRecord, DnsRecordInput, DnsRecordPatch, Heartbeat, HeartbeatInput, HeartbeatPatch, HeartbeatPatchSchedule,
    ListHeartbeatsStatusItem, Monitor, MonitorInput, MonitorPatch, MonitorType, WebhookEndpoint, WebhookEndpointInput,
    WebhookEndpointInputEventsItem, WebhookEndpointPatch, ZoneInput,
)

client = AuthenticatedClient(base_url=os.environ["HUB"], token=os.environ["TOKEN"])


def body(response):
    """The body of a successful response."""
    assert response.status_code < 300, response.content
    return response.parsed


def is_listed(page, id):
    assert [one.id for one in page.data].count(id) == 1


def is_not_found(response):
    assert response.parsed.code == "not_found", response.content


def monitors():
    id = body(create_monitor.sync_detailed(client=client, body=MonitorInput(target="http://127.0.0.1:9/", tags=["python"]))).id
    is_listed(body(list_monitors.sync_detailed(client=client, tag="python")), id)
    monitor = body(get_monitor.sync_detailed(id, client=client))
    assert isinstance(monitor, Monitor) and monitor.type_ == MonitorType.HTTP and monitor.quorum == "majority"
    updated = body(update_monitor.sync_detailed(id, client=client, body=MonitorPatch(quorum=1, degraded_ms=None)))
    assert updated.quorum == 1 and updated.degraded_ms is None
    body(delete_monitor.sync_detailed(id, client=client))
    is_not_found(get_monitor.sync_detailed(id, client=client))


def records():
    zone = body(create_zone.sync_detailed(client=client, body=ZoneInput(name="python.example")))
    record = DnsRecordInput(type_="A", name="www", content="192.0.2.10")
    id = body(create_dns_record.sync_detailed(zone.id, client=client, body=record)).id
    is_listed(body(list_zone_records.sync_detailed(zone.id, client=client)), id)
    found = body(get_dns_record.sync_detailed(id, client=client))
    assert isinstance(found, DnsRecord) and found.content == "192.0.2.10"
    updated = body(update_dns_record.sync_detailed(id, client=client, body=DnsRecordPatch(content="192.0.2.11", ttl=60)))
    assert updated.content == "192.0.2.11" and updated.ttl == 60
    body(delete_dns_record.sync_detailed(id, client=client))
    is_not_found(get_dns_record.sync_detailed(id, client=client))


def heartbeats():
    schedule = CronSchedule(kind="cron", expression="0 3 * * *", timezone="UTC", grace_seconds=60)
    id = body(create_heartbeat.sync_detailed(client=client, body=HeartbeatInput(name="python", schedule=schedule))).id
    is_listed(body(list_heartbeats.sync_detailed(client=client, status=[ListHeartbeatsStatusItem.NEW])), id)
    heartbeat = body(get_heartbeat.sync_detailed(id, client=client))
    assert isinstance(heartbeat, Heartbeat) and heartbeat.schedule == schedule and heartbeat.last_ping_at is None
    patch = HeartbeatPatch(schedule=HeartbeatPatchSchedule(grace_seconds=20))
    assert body(update_heartbeat.sync_detailed(id, client=client, body=patch)).schedule.grace_seconds == 20
    body(delete_heartbeat.sync_detailed(id, client=client))
    is_not_found(get_heartbeat.sync_detailed(id, client=client))


def webhook_endpoints():
    url = "http://127.0.0.1:9/python"
    new = WebhookEndpointInput(url=url, events=[WebhookEndpointInputEventsItem.MONITOR_ALERT])
    created = body(create_webhook_endpoint.sync_detailed(client=client, body=new))
    assert created.secret.startswith("whsec_")
    is_listed(body(list_webhook_endpoints.sync_detailed(client=client)), created.id)
    endpoint = body(get_webhook_endpoint.sync_detailed(created.id, client=client))
    assert isinstance(endpoint, WebhookEndpoint) and endpoint.url == url and endpoint.events == ["monitor.alert"]
    patch = WebhookEndpointPatch(description="alerts")
    assert body(update_webhook_endpoint.sync_detailed(created.id, client=client, body=patch)).description == "alerts"
    body(delete_webhook_endpoint.sync_detailed(created.id, client=client))
    is_not_found(get_webhook_endpoint.sync_detailed(created.id, client=client))


# Every module of the client can be loaded, including those that are not used here.
for module in pkgutil.walk_packages(bailiwick.__path__, "bailiwick."):
    importlib.import_module(module.name)
monitors()
records()
heartbeats()
webhook_endpoints()
