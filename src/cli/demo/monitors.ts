import type { MonitorInput } from '../../features/monitors/shapes'
import { domain } from './resolver'
import type { Servers } from './servers'

/** The usual duration of each phase of a check, in milliseconds; null for phases it doesn't have. */
export interface Usual {
  dns: number | null
  connect: number | null
  tls: number | null
  firstByte: number | null
  total: number
  /** Status code of its responses. */
  code: number | null
}

/** A monitor of the demo. */
export interface Sample {
  key: string
  input: MonitorInput
  /** Null for a group, which has no measurements. */
  usual: Usual | null
  /** Number of short random outages before the demo starts. */
  shortOutages: number
}

/** The monitors of the demo, dependencies first. `depends_on` and `members` contain keys. */
export function sampleMonitors({ ports, authority: { cert: ca } }: Servers): Sample[] {
  const site = (key: string, name: string, path: string, total: number, more: MonitorInput = {}, shortOutages = 2): Sample => ({
    key,
    input: {
      name,
      target: `https://${key}.${domain}:${ports.web}${path}`,
      interval_seconds: 30,
      ...more,
      options: { ca, ...(more.options as object) },
    },
    usual: { dns: 1.4, connect: 2.1, tls: 9.5, firstByte: total - 1, total, code: 200 },
    shortOutages,
  })
  const server = (
    key: string,
    type: 'tcp' | 'smtp' | 'imap' | 'ssh',
    name: string,
    more: MonitorInput,
    total: number,
    shortOutages = 1,
  ): Sample => ({
    key,
    input: {
      name,
      type,
      target: `${key}.${domain}:${ports[key as 'db']}`,
      interval_seconds: 30,
      ...more,
    },
    usual: {
      dns: 1.2,
      connect: 1.6,
      tls: null,
      firstByte: type === 'tcp' ? null : total - 1,
      total,
      code: type === 'smtp' ? 220 : null,
    },
    shortOutages,
  })
  return [
    server(
      'edge',
      'tcp',
      'Edge router',
      {
        interval_seconds: 15,
        confirm: 1,
        tags: ['network', 'frankfurt'],
        description: 'All of Frankfurt is behind this router.',
      },
      3,
      2,
    ),
    site('shop', 'Shop', '/', 82, { tags: ['production', 'customers'], degraded_ms: 800, keyword: 'Welcome' }, 3),
    site('api', 'Public API', '/health', 44, {
      tags: ['production', 'api'],
      interval_seconds: 15,
      degraded_ms: 500,
      down_if: ['[BODY].status != UP'],
      degraded_if: ['[BODY].queue > 100'],
    }),
    site('search', 'Search', '/health', 131, { tags: ['production', 'api'], degraded_ms: 900 }, 4),
    site('payments', 'Payments', '/health', 52, { tags: ['production', 'customers'], interval_seconds: 20 }, 1),
    site(
      'images',
      'Image CDN',
      '/',
      27,
      { tags: ['production', 'cdn'], interval_seconds: 15, retry_interval_seconds: 10, severity: 'warning' },
      4,
    ),
    site(
      'crm',
      'CRM (old)',
      '/',
      66,
      { tags: ['back-office'], interval_seconds: 10, retry_interval_seconds: 5, confirm: 1, recover: 1, severity: 'warning' },
      6,
    ),
    site('staging', 'Staging', '/', 58, { tags: ['staging'], severity: 'info' }, 5),
    {
      key: 'push',
      input: {
        name: 'Live prices',
        target: `wss://push.${domain}:${ports.web}/feed`,
        tags: ['production'],
        interval_seconds: 30,
        options: { ca, send: 'ping', expect_text: 'pong' },
      },
      usual: { dns: 1.3, connect: 2, tls: 9, firstByte: 12, total: 14, code: 101 },
      shortOutages: 1,
    },
    {
      key: 'legacy',
      input: {
        name: 'Partner portal certificate',
        type: 'tls',
        target: `legacy.${domain}:${ports.legacy}`,
        tags: ['certificates'],
        interval_seconds: 300,
        degraded_if: ['[CERTIFICATE_EXPIRATION] < 14d'],
        severity: 'warning',
        options: { ca },
      },
      usual: { dns: 1.1, connect: 1.9, tls: 8.6, firstByte: null, total: 11, code: null },
      shortOutages: 0,
    },
    {
      key: 'names',
      input: {
        name: `shop.${domain} A record`,
        type: 'dns',
        target: `shop.${domain}`,
        tags: ['dns'],
        interval_seconds: 60,
        options: { resolver: `127.0.0.1:${ports.dns}`, expected_answers: ['127.0.0.1'] },
      },
      usual: { dns: null, connect: null, tls: null, firstByte: 1.2, total: 1.6, code: null },
      shortOutages: 0,
    },
    {
      key: 'host',
      input: { name: 'Hypervisor', type: 'icmp', target: '127.0.0.1', tags: ['network'], interval_seconds: 30 },
      usual: { dns: null, connect: null, tls: null, firstByte: null, total: 0.3, code: null },
      shortOutages: 1,
    },
    server('mail', 'smtp', 'Incoming mail', { tags: ['mail'], options: { expected_capabilities: ['8BITMIME'] } }, 6),
    server('imap', 'imap', 'Mailboxes', { tags: ['mail'], options: { expected_capabilities: ['IDLE'] } }, 5),
    server('bastion', 'ssh', 'Bastion', { tags: ['network'], interval_seconds: 60 }, 4),
    server(
      'db',
      'tcp',
      'Orders database',
      { tags: ['production', 'frankfurt'], interval_seconds: 15, confirm: 1, depends_on: ['edge'] },
      3,
    ),
    server(
      'cache',
      'tcp',
      'Session cache',
      { tags: ['production', 'frankfurt'], interval_seconds: 15, confirm: 1, depends_on: ['edge'] },
      2,
    ),
    server('warehouse', 'tcp', 'Warehouse sync', { tags: ['back-office'] }, 4, 2),
    {
      key: 'storefront',
      input: {
        name: 'Storefront',
        type: 'group',
        description: 'What customers see.',
        tags: ['customers'],
        severity: 'info',
        channel_ids: [],
        interval_seconds: 30,
        options: { members: ['shop', 'payments', 'push', 'names'], rule: 'percent', percent: 75 },
      },
      usual: null,
      shortOutages: 0,
    },
  ]
}
