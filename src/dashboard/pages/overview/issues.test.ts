import { expect, test } from 'bun:test'
import type { OverviewView } from '../../../features/overview/shapes'
import { issuesOf } from './issues'

const error = { at: '2026-11-21T10:00:00.000Z', code: 'rejected', detail: 'The mail server rejected the sender.' }
const mail = {
  id: 'chan_1',
  name: 'Mail',
  status: 'enabled',
  disabled_reason: null,
  last_error: error,
  failing_since_at: error.at,
}

test('failing channels are named with their error, and those that are not loaded are counted', () => {
  const overview = { channels: { total: 5, disabled: 0, failing: 2 } } as OverviewView
  expect(issuesOf(overview, [mail as never]).map(({ title, reason, to }) => [title, reason, to])).toEqual([
    ['Channel Mail', 'The mail server rejected the sender.', '/channels/chan_1'],
    ['1 notification channel is failing', 'The last attempt to send a message failed.', '/channels'],
  ])
  const disabled = (count: number) => ({
    channels: { total: 5, disabled: count, failing: 0 },
    webhooks: { endpoints: { total: 5, disabled: count, inactive: 0, failing: 0 }, deliveries: { failed: count, retrying: 0 } },
  })
  expect(
    [1, 2].flatMap(count => issuesOf(disabled(count) as OverviewView, []).map(({ title, reason }) => [title, reason])),
  ).toEqual([
    ['1 webhook endpoint is disabled', 'Disabled automatically. Deliveries are held until it is enabled.'],
    ['1 delivery failed permanently', 'In the last 24 hours. Failed deliveries can be resent.'],
    ['1 notification channel is disabled', 'Disabled automatically. No notifications are sent until it is enabled.'],
    ['2 webhook endpoints are disabled', 'Disabled automatically. Deliveries are held until they are enabled.'],
    ['2 deliveries failed permanently', 'In the last 24 hours. Failed deliveries can be resent.'],
    ['2 notification channels are disabled', 'Disabled automatically. No notifications are sent until they are enabled.'],
  ])
})

test('sources that are stale or held are listed with their reason, and others with the problem of a host', () => {
  const [at, since_at] = ['2026-11-21T10:00:00.000Z', '2026-11-21T09:00:00.000Z']
  const source = { status_reason: null, stale_after_seconds: 3600, last_seen_at: at, hosts: [] }
  const problem = { code: 'locked', detail: 'The records are locked.', since_at }
  const failing = [
    { ...source, id: 'dip_1', name: 'Office', status: 'stale' },
    { ...source, id: 'dip_2', name: 'Home', status: 'held', status_reason: { code: 'flapping', detail: 'Too often.', since_at } },
    {
      ...source,
      id: 'dip_3',
      name: 'Warehouse',
      status: 'fresh',
      hosts: [{ problem: null }, { name: 'a.example', problem }, { name: 'b.example', problem }],
    },
  ]
  const found = issuesOf({ dynamic_ips: { failing } } as unknown as OverviewView, [])
  expect(found.map(({ title, state, tone, reason, to, since }) => [title, state, tone, reason, to, since])).toEqual([
    ['Home', 'held', 'bad', expect.stringContaining('Too often. New addresses are refused'), '/dynamic-ips/dip_2', since_at],
    [
      'Warehouse',
      'failed',
      'bad',
      'a.example: The records are locked. 1 more host has a problem.',
      '/dynamic-ips/dip_3',
      since_at,
    ],
    ['Office', 'stale', 'warn', 'No report for more than 1 h. The records keep the last address.', '/dynamic-ips/dip_1', at],
  ])
})

test('file systems that fill, silent agents, and agents that await approval are listed', () => {
  const at = '2026-11-21T10:00:00.000Z'
  const of = { server_id: 'srv_1', name: 'web-1' }
  const servers = {
    failing: [],
    filling: [
      { ...of, path: '/', used_percent: 98.7, hours_left: null },
      { ...of, path: '/srv', used_percent: 69, hours_left: 15.5 },
    ],
    agents: { by_state: { awaiting_approval: 1 }, silent: [{ ...of, id: 'agent_1', silent_since_at: at }] },
  }
  const found = issuesOf({ servers } as unknown as OverviewView, [])
  expect(found.map(({ title, tone, reason, to }) => [title, tone, reason, to])).toEqual([
    ['web-1: /', 'bad', '98% full.', '/servers/srv_1'],
    ['web-1: /srv', 'warn', '69% full, and full in 15 h at the rate of the last 24 hours.', '/servers/srv_1'],
    ['web-1', 'warn', 'The agent stopped reporting.', '/servers/srv_1'],
    ['1 agent awaits approval', 'busy', 'Nothing is accepted from an agent until someone approves it.', '/agents'],
  ])
})
